// Communicators from those of a program's MPI. Needs mpi.h and MPI::MPI_CXX in the program, and a plaq that was built
// with that MPI.
#pragma once
#include <mpi.h>

#include <cstddef>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// Makes a communicator of the ranks of `over`, in its order: a Cartesian communicator, a part of the world, or the
/// ranks of a program that use plaq. Collective among these ranks alone. It uses a duplicate, with messages separate
/// from those of the program, so that `over` may be freed. Destroy what was made of the group before the program ends
/// MPI. Buffers longer than `longest_message` bytes travel in pieces. Errors of MPI are runtime_failures.
/// @pre MPI is running; `over` is neither MPI_COMM_NULL nor an intercommunicator (input_error); MPI's thread level is
/// at least MPI_THREAD_SERIALIZED (runtime_failure).
communicator from_mpi(MPI_Comm over, std::size_t longest_message = std::size_t(1) << 30);

}  // namespace plaq::comm
