#include "plaq/comm/job/from_mpi.hpp"

#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/device/device_wire.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "plaq/comm/mpi/mpi_wire.hpp"

namespace plaq::comm {

communicator from_mpi(MPI_Comm over, std::size_t longest_message) {
  if (!mpi_is_running()) throw input_error("from_mpi: MPI is not running; comm::world() or MPI_Init_thread starts it");
  if (over == MPI_COMM_NULL) throw input_error("from_mpi: the communicator is MPI_COMM_NULL, which has no ranks");
  need_thread_level();
  int two_groups = 0;
  must(MPI_Comm_test_inter(over, &two_groups), "MPI_Comm_test_inter", "plaq");
  if (two_groups) throw input_error("from_mpi: an intercommunicator joins two groups; MPI_Intercomm_merge makes one");
  return communicator(with_device_memory(mpi_wire(over, longest_message), takes_device_memory()));
}

}  // namespace plaq::comm
