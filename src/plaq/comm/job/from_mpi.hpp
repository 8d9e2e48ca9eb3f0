// Groups of ranks that a program has as a communicator of MPI. Needs mpi.h and MPI::MPI_CXX in the program, and a plaq
// that was built with that MPI.
#pragma once
#include <mpi.h>

#include <cstddef>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// The ranks of `over`, in its order: of a Cartesian communicator, a part of the world, one end of a program in which
/// other ranks do not use plaq. Collective among these ranks alone. Its messages meet none of the program's: it goes by
/// a duplicate, so that `over` may be freed. Where the program ends MPI, what was made of the group is destroyed
/// before. Buffers longer than `longest_message` bytes travel in pieces.
///
/// Throws input_error where MPI is not running, `over` is MPI_COMM_NULL or joins two groups; runtime_failure where
/// MPI's thread level is below MPI_THREAD_SERIALIZED, and for what MPI reports.
communicator from_mpi(MPI_Comm over, std::size_t longest_message = std::size_t(1) << 30);

}  // namespace plaq::comm
