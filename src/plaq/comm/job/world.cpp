#include "plaq/comm/job/world.hpp"

#include <chrono>
#include <thread>

#include "plaq/base/error.hpp"
#include "plaq/comm/device/device_wire.hpp"
#include "plaq/comm/job/heartbeat.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

namespace {

constexpr std::chrono::seconds wait_for_report{5};  // by the launcher's first rank

communicator ranks(const world_options& how) {
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

}  // namespace

communicator world(const world_options& how) {
  if (!(how.timeout > 0)) throw input_error("world: timeout is a number of seconds above 0");
  try {
    return ranks(how);
  } catch (const input_error&) {
    if (launched_rank() > 0) std::this_thread::sleep_for(wait_for_report);
    throw;
  }
}

int launched_rank() {
  const auto started = find_launch();
  return started ? started->rank : 0;
}

}  // namespace plaq::comm
