// The blocks of C++ in docs/collectives.md, comm_messages.md, porting/mpi.md and mpi_openmp.md, as they stand there;
// see tests/blocks.py.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <numeric>
#include <tuple>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/world.hpp"
#include "plaq/comm/messages/active_messages.hpp"
#include "plaq/comm/messages/partitioned.hpp"
#include "plaq/comm/messages/window.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;

TEST(DocsOfComm, FromMpi) {
  const auto world = comm::world();
  comm::collectives c(world);
  comm::messenger m(world);
  const int p = c.size(), me = c.rank();
  for (const std::string& name : task::backends())
    task::with_backend(name, {.workers = 2}, [&](auto& pool) {
#include "porting/mpi.inc"
    });
}

TEST(DocsOfComm, Collectives) {
  const auto world = comm::world();
#include "collectives.inc"
}

TEST(DocsOfComm, Messages) {
  const auto world = comm::world();
  for (const std::string& name : task::backends())
    task::with_backend(name, {.workers = 2}, [&](auto& pool) {
#include "comm_messages.inc"
    });
}

TEST(DocsOfComm, FromMpiAndOpenmp) {
  const auto world = comm::world();
  comm::collectives c(world);
  for (const std::string& name : task::backends())
    task::with_backend(name, {.workers = 2}, [&](auto& pool) {
#include "porting/mpi_openmp.inc"
    });
}
