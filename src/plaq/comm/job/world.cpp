#include "plaq/comm/job/world.hpp"

#include "plaq/base/error.hpp"
#include "plaq/comm/device/device_wire.hpp"
#include "plaq/comm/job/heartbeat.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

communicator world(const world_options& how) {
  if (!(how.timeout > 0)) throw input_error("world: timeout is a number of seconds above 0");
  const auto started = find_launch();
  if (started || mpi_is_running())
    if (auto wires = mpi_world(how.longest_message)) {
      communicator all(with_device_memory(std::move(wires), takes_device_memory()));
      if (how.heartbeat && all.size() > 1 && mpi_is_ours()) heartbeat::in(all).check_calls(how.timeout);
      return all;
    }
  check_world(1, "", started ? describe_mpi().why_none : "", started, expected_ranks());
  return communicator(with_device_memory(serial_wire(), false));
}

}  // namespace plaq::comm
