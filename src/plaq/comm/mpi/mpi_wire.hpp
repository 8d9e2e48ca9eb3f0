// MPI as a wire. Only the files that know MPI include it.
#pragma once
#include <cstddef>
#include <memory>

#include "plaq/comm/mpi/call.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// A wire over a duplicate of `over`; collective. Buffers longer than `longest_message` bytes travel in pieces.
std::unique_ptr<wire> mpi_wire(MPI_Comm over, std::size_t longest_message);

}  // namespace plaq::comm
