#include <gtest/gtest.h>
#include "plaq/task/task.hpp"
using namespace plaq::task;
TEST(a, b) {
  for (auto& n : backends()) with_backend(n, options{.workers = 2}, [](auto& pool) {
    using B = typename std::decay_t<decltype(pool)>::backend;
    auto f = pool.async("x", [&] { auto g = pool.async(std::string("y"), [] { return 2; }); return g.get() + 1; });
    EXPECT_EQ(f.get(), 3);
    channel<B, int> c(4);
    auto p = pool.async("p", [&] { c.close_after([&] { for (int i = 0; i < 1000; ++i) if (!c.push(i)) break; }); });
    auto q = pool.async("q", [&] { long s = 0; while (auto v = c.pop()) s += *v; return s; });
    p.get();
    EXPECT_EQ(q.get(), 499500);
    std::atomic<long> s{0};
    parallel_for(pool, "loop", 0, 1000, [&](int i) { s += i; });
    EXPECT_EQ(s, 499500);
  });
}
