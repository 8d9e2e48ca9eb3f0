// The example of docs/task.md, as it stands there.
#include <gtest/gtest.h>

#include "plaq/task/task.hpp"
using namespace plaq;

TEST(Docs, TheExampleRuns) {
  for (const std::string& name : task::backends()) {
    double sum = task::with_backend(name, {.workers = 2}, [&](auto& pool) {
      using B = typename std::decay_t<decltype(pool)>::backend;
      task::channel<B, double> pipe(4);

      auto walker = pool.async("walker", [&] {
        pipe.close_after([&] {
          for (int i = 0; i < 100; ++i)
            if (!pipe.push(i)) return;
        });
      });
      auto accumulator = pool.async("accumulator", [&] {
        return pipe.close_after([&] {
          double sum = 0;
          while (auto value = pipe.pop()) sum += *value;
          return sum;
        });
      });
      walker.get();
      return accumulator.get();
    });
    EXPECT_EQ(sum, 4950);
  }
}
