// Collections that share a communicator.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cells.hpp"
#include "plaq/base/error.hpp"
#include "plaq/collection/collection_group.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

struct plain {
  std::int64_t sum = 0;
};
using row_of = collection<plain, int>;

/// Sends around a ring and moves, so that each message of the collection has a use; returns the sum.
std::int64_t go_round(row_of& row, unsigned seed, int steps) {
  auto by = row.make_port<int>("by");
  for (int n = 0; n < steps; ++n) {
    row.each("send", [=](plain&, auto& context) { context.send(by, (context.index() + 1) % 6, context.index() * n); });
    row.each("take", by.of(1), [=, p = std::uint64_t(row.size())](plain& e, auto& context) {
      for (const auto& [from, value] : context.take(by)) e.sum += value;
      context.move_to(int(drawn(seed, {context.index(), 0}, n) % p));
    });
  }
  return row.reduce("sum", [](const plain& e) { return e.sum; }, std::plus<>()).get();
}
std::int64_t sum_of(int steps) { return std::int64_t(15) * steps * (steps - 1) / 2; }
plain make(int) { return {}; }

TEST(collection_group, collections_at_once_do_not_disturb_each_other) {
  for (const int ranks : {1, 2, 3, 5})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      for (unsigned seed = 0; seed < seeds(4); ++seed) {
        const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
          const collection_group all(world, pool);
          EXPECT_EQ(all.rank(), world.rank());
          EXPECT_EQ(all.size(), ranks);
          row_of a("a", all, row_homes(box(6)), make), b("b", all, hilbert_homes(box(6)), make);
          EXPECT_EQ(go_round(a, seed, 7), sum_of(7));
          EXPECT_EQ(go_round(b, seed, 4), sum_of(4));
          auto balanced = a.balance();
          EXPECT_EQ(go_round(b, seed + 1, 3), sum_of(4) + sum_of(3));
          a.wait(), b.wait();
          EXPECT_GE(balanced.get().before, 0);
        });
        EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
      }
    });
}

// One after the other: late messages of one that has ended do not reach the next.
TEST(collection_group, makes_many) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(3, 5, [&](const comm::communicator& world) {
      const collection_group all(world, pool);
      for (int n = 0; n < 40; ++n) {
        row_of row("row", all, row_homes(box(6)), make);
        EXPECT_EQ(go_round(row, unsigned(n), 2), sum_of(2));
      }
    });
    EXPECT_EQ(said, no_errors(3));
  });
}

TEST(collection_group, an_error_ends_one_collection_alone) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(2, 1, [&](const comm::communicator& world) {
      const collection_group all(world, pool);
      row_of bad("bad", all, row_homes(box(6)), make), good("good", all, row_homes(box(6)), make);
      const auto fail = [](plain&, auto& context) {
        if (context.index() == 5) throw std::runtime_error("no more");
      };
      // The first call after the failure throws: each() where the other rank is ahead.
      EXPECT_THROW((bad.each("fail", fail), bad.wait()), runtime_failure);
      EXPECT_EQ(go_round(good, 1, 3), sum_of(3));
    });
    EXPECT_EQ(said, no_errors(2));
  });
}

TEST(collection_group, has_room_for_so_many) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    const auto said = on_ranks(1, 1, [&](const comm::communicator& world) {
      const collection_group all(world, pool);
      for (int n = 0; n < collection_group::most; ++n) (void)all.next();
      row_of row("row", all, row_homes(box(6)), make);
    });
    EXPECT_EQ(said[0],
              "a group makes " + std::to_string(collection_group::most) + " collections at most; make another group");
  });
}

}  // namespace
}  // namespace plaq
