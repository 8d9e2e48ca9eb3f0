#include "plaq/comm/job/world.hpp"

#include "plaq/comm/device/device_wire.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

communicator world(std::size_t longest_message) {
  const auto started = find_launch();
  if (started || mpi_is_running())
    if (auto all = mpi_world(longest_message))
      return communicator(with_device_memory(std::move(all), takes_device_memory()));
  check_world(1, library_version(), started, expected_ranks());
  return communicator(with_device_memory(serial_wire(), false));
}

}  // namespace plaq::comm
