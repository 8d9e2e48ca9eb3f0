// The blocks of C++ in docs/porting/mpi_openmp.md, as they stand there; see tests/blocks.py.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/comm/communicator.hpp"
#include "plaq/task/task.hpp"

using namespace plaq;

TEST(DocsOfComm, FromMpiAndOpenmp) {
  const auto world = comm::communicator::world();
  for (const std::string& name : task::backends())
    task::with_backend(name, {.workers = 2}, [&](auto& pool) {
#include "porting/mpi_openmp.inc"
    });
}
