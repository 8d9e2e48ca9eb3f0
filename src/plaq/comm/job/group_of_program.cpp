#include "plaq/comm/job/group_of_program.hpp"

#include "plaq/comm/device/device_wire.hpp"
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

communicator group_of_program(std::uintptr_t over, const char* interface, std::size_t longest_message) {
  auto wires = wire_of_program(over, interface, longest_message);
  return communicator(with_device_memory(std::move(wires), takes_device_memory()));
}

}  // namespace plaq::comm
