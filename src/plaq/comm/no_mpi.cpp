// Stands in for mpi.cpp where plaq is built without MPI.
#include "plaq/comm/communicator.hpp"
#include "plaq/comm/transport.hpp"

namespace plaq::comm {

std::unique_ptr<transport> mpi_transport(std::size_t) { return nullptr; }
bool mpi_is_running() { return false; }
bool mpi_is_ours() { return false; }

std::string library_version() { return ""; }
std::string thread_level() { return ""; }
bool takes_device_memory() { return false; }
std::string mpiexec() { return ""; }

}  // namespace plaq::comm
