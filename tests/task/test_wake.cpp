// Every task finds a worker as long as there are some that have nothing to do.
#include <gtest/gtest.h>

#include <latch>
#include <vector>

#include "plaq/task/fiber.hpp"
#include "plaq/task/os.hpp"

namespace plaq::task {
namespace {

template <class B>
struct Wake : testing::Test {};
using backends_here = testing::Types<fiber, os>;
TYPED_TEST_SUITE(Wake, backends_here);

// Each waits for all others on its kernel thread, so that none of them runs on the worker of another.
TYPED_TEST(Wake, ReachesAWorkerForEveryTask) {
  constexpr int workers = 4;
  typename TypeParam::pool pool({.workers = workers, .bind = binding::none});
  for (int round = 0; round < 300; ++round) {
    std::latch on_ready{workers};
    std::vector<typename TypeParam::template future<void>> running;
    for (int i = 0; i < workers; ++i) running.push_back(pool.async("waits", [&] { on_ready.arrive_and_wait(); }));
    for (auto& task : running) task.get();
  }
}

}  // namespace
}  // namespace plaq::task
