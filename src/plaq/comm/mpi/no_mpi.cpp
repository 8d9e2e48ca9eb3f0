// Stands in for mpi.cpp and mpi_wire.cpp where plaq is built without MPI.
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

std::unique_ptr<wire> mpi_world(std::size_t) { return nullptr; }
void mpi_abort(int) {}
bool mpi_is_running() { return false; }
bool mpi_is_ours() { return false; }

std::string library_version() { return ""; }
std::string thread_level() { return ""; }
bool takes_device_memory() { return false; }
std::string mpiexec() { return ""; }

}  // namespace plaq::comm
