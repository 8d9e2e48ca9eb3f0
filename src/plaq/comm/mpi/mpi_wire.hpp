// Wire over MPI. Only the files that know MPI include it.
#pragma once
#include <cstddef>
#include <memory>

#include "plaq/comm/mpi/call.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Throws runtime_failure if MPI's thread level is below 'serialized'.
void need_thread_level();
/// Makes a wire over a duplicate of `over`. Collective. Buffers longer than `longest_message` bytes travel in pieces.
/// @pre MPI can count `longest_message` bytes (input_error).
std::unique_ptr<wire> mpi_wire(MPI_Comm over, std::size_t longest_message);

}  // namespace plaq::comm
