// How far elements run ahead of each other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "cells.hpp"
#include "plaq/base/error.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

constexpr int width = 6;
struct plain {
  std::int64_t sum = 0;
};

/// Largest number of steps by which an element was ahead of another, where the last one is slow.
std::int64_t largest_lead(int ranks, unsigned seed, std::int64_t within, int steps, bool wander) {
  std::array<std::atomic<std::int64_t>, width> begun{};
  std::atomic<std::int64_t> most{0};
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
      collection<plain, int> row("row", world, pool, row_homes(box(width)), [](int) { return plain{}; });
      auto by = row.make_port<std::int64_t>("by");
      row.keep_within(within);
      for (int n = 0; n < steps; ++n) {
        const auto step = [&, n](plain& p, auto& context) {
          begun[std::size_t(context.index())] = n;
          for (const auto& other : begun)
            for (auto lead = n - other, seen = most.load(); lead > seen;)
              if (most.compare_exchange_weak(seen, lead)) break;
          if (context.index() == 0) context.send(by, width - 1, n);
          for (const auto& [from, value] : context.take(by)) p.sum += value;
          if (context.index() == width - 1) std::this_thread::sleep_for(std::chrono::microseconds(50));
          if (wander) context.move_to(int(drawn(seed, {context.index(), 0}, n) % std::uint64_t(ranks)));
        };
        if (n % 5)
          row.each("step", step);
        else
          row.each("step", by.of([=](int at) { return at == width - 1 && n > 0 ? 5 : 0; }), step);
      }
      EXPECT_EQ(row.steps(), steps);
      const auto sums = row.reduce("sum", [](const plain& p) { return p.sum; }, std::plus<>()).get();
      const std::int64_t taken = (steps - 1) / 5 * 5;
      EXPECT_EQ(sums, taken * (taken - 1) / 2);
    });
    EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
  });
  return most;
}

TEST(step_window, bounds_the_lead_of_an_element) {
  for (const int ranks : {1, 2, 3})
    for (unsigned seed = 0; seed < seeds(1); ++seed)
      for (const int within : {2, 7}) {
        EXPECT_LE(largest_lead(ranks, seed, within, 60, false), within) << "seed " << seed;
        EXPECT_LE(largest_lead(ranks, seed, within, 40, true), within) << "seed " << seed;
      }
  EXPECT_GT(largest_lead(1, 0, 1000, 120, false), 16);  // so the above says something
}

TEST(step_window, bounds_it_by_default) { EXPECT_LE(largest_lead(2, 0, 256, 700, false), 256); }

TEST(step_window, a_message_that_never_comes_is_named) {
  for (const int ranks : {1, 3})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, 1, [&](const comm::communicator& world) {
        collection<plain, int> row("row", world, pool, row_homes(box(width)), [](int) { return plain{}; });
        auto by = row.make_port<int>("by");
        row.keep_within(4);
        row.each("take", by.of([](int at) { return at == 2; }), [](plain&) {});
        for (int n = 0; n < 100; ++n) row.each("more", [](plain&) {});
      });
      for (const auto& why : said)
        EXPECT_NE(why.find("row (2) waits, to begin step 0 'take': 0 of 1 messages of 'by'"), std::string::npos) << why;
    });
}

TEST(step_window, an_error_ends_the_wait) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(3, 1, [&](const comm::communicator& world) {
      collection<plain, int> row("row", world, pool, row_homes(box(width)), [](int) { return plain{}; });
      row.keep_within(3);
      for (int n = 0; n < 100; ++n)
        row.each("step", [=](plain&, auto& context) {
          if (n == 20 && context.index() == 4) throw std::runtime_error("no more");
        });
      row.wait();
    });
    for (const auto& why : said) EXPECT_NE(why.find("step 20 'step': no more"), std::string::npos) << why;
  });
}

TEST(step_window, elements_that_come_and_go) {
  for (const int ranks : {1, 3})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, 1, [&](const comm::communicator& world) {
        collection<plain, std::uint64_t> some("some", world, pool, hashed_homes<std::uint64_t>());
        some.keep_within(4);
        if (world.rank() == 0) some.insert(0, {});
        for (int n = 0; n < 100; ++n)
          some.each("step", [=, p = std::uint64_t(ranks)](plain&, auto& context) {
            if (context.index() + 1 == std::uint64_t(n)) context.insert(std::uint64_t(n), {n});
            if (context.index() % 3 == 1 && context.index() + 2 == std::uint64_t(n)) context.remove();
            context.move_to(int((context.index() + std::uint64_t(n)) % p));
          });
        const auto left = some.reduce("left", [](const plain&) { return 1; }, 0, std::plus<>()).get();
        EXPECT_EQ(left, 100 - 33);  // of 0 ... 99, all but 1, 4, ..., 97
      });
      EXPECT_EQ(said, no_errors(ranks));
    });
}

TEST(step_window, has_two_steps_at_least) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    const auto said = on_ranks(1, 1, [&](const comm::communicator& world) {
      collection<plain, int> row("row", world, pool, row_homes(box(width)), [](int) { return plain{}; });
      row.keep_within(1);
    });
    EXPECT_EQ(said[0], "a window of 1 steps: it has at least 2");
  });
}

}  // namespace
}  // namespace plaq
