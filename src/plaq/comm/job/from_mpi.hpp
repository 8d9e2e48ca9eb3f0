// Communicators from those of a program's MPI. Needs mpi.h and MPI::MPI_CXX in the program, of any MPI that plaq can
// load.
#pragma once
#include <mpi.h>

#include <cstddef>

#include "plaq/comm/job/group_of_program.hpp"
#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// Makes a communicator of the ranks of `over`, in its order: a Cartesian communicator, a part of the world, or the
/// ranks of a program that use plaq. Collective among these ranks alone. It uses a duplicate, with messages separate
/// from those of the program, so that `over` may be freed. Destroy what was made of the group before the program ends
/// MPI. Buffers longer than `longest_message` bytes travel in pieces. Errors of MPI are runtime_failures.
/// @pre MPI is running; `over` is neither MPI_COMM_NULL nor an intercommunicator (input_error); MPI's thread level is
/// at least MPI_THREAD_SERIALIZED (runtime_failure).
inline communicator from_mpi(MPI_Comm over, std::size_t longest_message = std::size_t(1) << 30) {
#if defined(OPEN_MPI)
  constexpr const char* interface = "openmpi";
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH_VERSION)
  constexpr const char* interface = "mpich";
#elif defined(MPI_ABI_VERSION)
  constexpr const char* interface = "abi";
#else
#error "mpi.h is that of an MPI which plaq does not know: neither Open MPI, MPICH or its kin, nor MPI 5's interface"
#endif
  return group_of_program((std::uintptr_t)(over), interface, longest_message);  // MPI's handles are pointers or ints
}

}  // namespace plaq::comm
