// Workers of a rank: loops over ranges, errors, back ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/site_sum.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

class a_rank_with_workers : public testing::TestWithParam<std::tuple<const char*, int>> {
 protected:
  std::unique_ptr<workers> make() const {
    const auto [backend, count] = GetParam();
    return make_workers(backend, {.workers = count});
  }
};
INSTANTIATE_TEST_SUITE_P(backends, a_rank_with_workers,
                         testing::Combine(testing::Values("fiber", "os"), testing::Values(1, 2, 3)));

TEST_P(a_rank_with_workers, visits_every_index_once) {
  const auto group = make();
  for (const std::size_t n : {0, 1, 2, 5, 1000}) {
    std::vector<std::atomic<int>> visits(n);
    group->parallel_for("test", n, [&](std::size_t begin, std::size_t end) {
      EXPECT_LE(begin, end);
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(visits[i], 1) << i << " of " << n;
  }
}

TEST_P(a_rank_with_workers, has_the_requested_number_of_them) { EXPECT_EQ(make()->count(), std::get<1>(GetParam())); }

TEST_P(a_rank_with_workers, rethrows_errors_of_loops_and_runs) {
  const auto group = make();
  EXPECT_THROW(group->parallel_for("test", 10, [](std::size_t, std::size_t) { throw std::runtime_error("loop"); }),
               std::runtime_error);
  EXPECT_THROW(group->run("test", [] { throw std::runtime_error("run"); }), std::runtime_error);
}

TEST_P(a_rank_with_workers, runs_loops_inside_of_a_run) {
  const auto group = make();
  std::atomic<int> sum = 0;
  group->run("test", [&] {
    for (int i = 0; i < 3; ++i)
      group->parallel_for("test", 100, [&](std::size_t begin, std::size_t end) { sum += int(end - begin); });
  });
  EXPECT_EQ(sum, 300);
}

TEST_P(a_rank_with_workers, sums_over_sites_exactly) {
  const auto group = make();
  const comm::communicator self = single_rank();
  comm::messenger messages(self);
  comm::collectives collectives(self);
  context ctx{*group, messages, collectives};
  const auto sums = sum_over_sites(ctx, "test", 2, 1000, [](std::size_t first, std::size_t end, auto& parts) {
    for (std::size_t i = first; i < end; ++i) {
      parts[0].add(i % 2 ? 1e100 : -1e100), parts[0].add(1);
      parts[1].add(double(i));
    }
  });
  EXPECT_EQ(sums, (std::vector<double>{1000, 499500}));
}

TEST(workers, alone_are_the_calling_thread) {
  const auto group = make_workers("fiber", {.workers = 1});
  std::vector<std::thread::id> threads;
  group->parallel_for("test", 5, [&](std::size_t, std::size_t) { threads.push_back(std::this_thread::get_id()); });
  group->run("test", [&] { threads.push_back(std::this_thread::get_id()); });
  for (const auto id : threads) EXPECT_EQ(id, std::this_thread::get_id());
  EXPECT_FALSE(threads.empty());
}

TEST(workers, of_an_unknown_back_end_are_refused) {
  EXPECT_THROW(make_workers("abacus", {.workers = 1}), input_error);
  EXPECT_THROW(make_workers("", {.workers = 2}), input_error);
}

}  // namespace
}  // namespace plaq::lqcd
