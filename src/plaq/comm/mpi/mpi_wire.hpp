// MPI as a wire. Only the files that know MPI include it.
#pragma once
#include <cstddef>
#include <memory>

#include "plaq/comm/mpi/call.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Throws runtime_failure where MPI's thread level is below 'serialized'.
void need_thread_level();
/// A wire over a duplicate of `over`; collective. Buffers longer than `longest_message` bytes travel in pieces. Throws
/// input_error where that is none that MPI can count.
std::unique_ptr<wire> mpi_wire(MPI_Comm over, std::size_t longest_message);

}  // namespace plaq::comm
