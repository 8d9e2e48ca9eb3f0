// All ranks of the job.
#pragma once
#include <cstddef>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// All ranks of the job; collective. Its wires are MPI's, or those of a job of one rank, and take memory of GPUs
/// where there is a driver. Initialises MPI on the first call, and only in a process that a launcher started or
/// that has MPI running already; otherwise a world of one rank. Throws input_error if the world has not the size
/// that the launcher promised. Buffers longer than `longest_message` bytes travel in pieces.
communicator world(std::size_t longest_message = std::size_t(1) << 30);

}  // namespace plaq::comm
