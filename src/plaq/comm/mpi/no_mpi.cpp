// Stands in for mpi.cpp where plaq is built without MPI.
#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

std::unique_ptr<wire> mpi_world(std::size_t) { return nullptr; }
std::unique_ptr<wire> wire_of_program(wire::handle, const std::string&, std::size_t) {
  throw input_error("from_mpi: this plaq was built without MPI (PLAQ_MPI=off)");
}
void mpi_abort(int) {}
bool mpi_is_running() { return false; }
bool mpi_is_ours() { return false; }

mpi_description describe_mpi() {
  return {.why_none = "it was built with PLAQ_MPI=off, and has to be built without that"};
}
std::string library_version() { return ""; }
std::string thread_level() { return ""; }
bool takes_device_memory() { return false; }

}  // namespace plaq::comm
