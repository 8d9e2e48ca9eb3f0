// A job in which the last rank does something wrong while the others wait for it. Driven by
// tests/comm/test_failing_job.py.
//   failing_job MODE
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"

namespace {

using namespace plaq;
using comm::operation;

/// What the last rank does in place of the call of all others; true: it goes on to the end of main.
bool goes_wrong(const std::string& mode, std::optional<comm::collectives>& all, std::vector<double>& x) {
  if (mode == "throw") throw std::runtime_error("no such input");
  if (mode == "exit") std::exit(3);
  if (mode == "_exit") ::_exit(4);
  if (mode == "abort") std::abort();
  if (mode == "kill") ::raise(SIGKILL);
  if (mode == "stop") ::raise(SIGSTOP);
  if (mode == "return") return true;
  if (mode == "let go") {
    all.reset();
    std::this_thread::sleep_for(std::chrono::seconds(1000));
  }
  if (mode == "longer") x.resize(5), all->all_reduce(x, operation::sum);
  if (mode == "root") all->broadcast(x, 1);
  if (mode == "other call") all->barrier(), all->barrier();
  if (mode == "slow") std::this_thread::sleep_for(std::chrono::seconds(7)), all->all_reduce(x, operation::sum);
  return false;
}

void run(const std::string& mode) {
  const auto world = comm::world({.timeout = 4});
  std::optional<comm::collectives> all(world);
  std::vector<double> x(4, 1.0);
  all->all_reduce(x, operation::sum);
  if (world.rank() == world.size() - 1 && goes_wrong(mode, all, x)) return;
  if (mode == "future")
    world.rank() == 0 ? all->ibarrier().get() : all->iall_reduce(std::span(x), operation::sum).get();
  else if (world.rank() < world.size() - 1 && mode == "root")
    all->broadcast(x, 0);
  else if (world.rank() < world.size() - 1 || mode == "fine")
    all->all_reduce(x, operation::sum);
  if (mode == "after all") std::exit(world.rank() == 1 ? 5 : 0);
  if (world.rank() == 0) std::puts("done");
}

}  // namespace

int main(int, char** arguments) {
  const std::string mode = arguments[1];
  if (mode == "uncaught") {
    const auto world = comm::world();
    comm::collectives all(world);
    if (world.rank() == 1) throw std::runtime_error("nobody catches this");
    all.barrier();
    return 0;
  }
  try {
    run(mode);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "failing_job: %s\n", error.what());
    return 1;
  }
}
