// Elements that wander while they talk: the same bits as in a loop, whatever overtakes what.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cells.hpp"
#include "plaq/task/task.hpp"
#include "plaq/trace/hooks.hpp"

namespace plaq {
namespace {

using namespace test;

constexpr int rounds = 6;
struct result {
  std::vector<std::pair<index2, std::vector<double>>> histories = {};
  std::vector<double> sums = {}, bracketed = {};
  std::vector<std::vector<double>> of_some = {};
  bool operator==(const result&) const = default;
};

/// The order of indices: y first.
bool before(index2 a, index2 b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); }

/// Of the values of places begin ... end - 1, in halves.
double bracketed(const std::vector<double>& of, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return of[begin];
  const std::size_t half = std::bit_ceil(end - begin) / 2;
  return bracket(bracketed(of, begin, begin + half), bracketed(of, begin + half, end));
}

result in_a_loop() {
  std::vector<std::pair<index2, cell>> cells;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) cells.push_back({{x, y}, first({x, y})});
  result out;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> old;
    for (auto& [at, c] : cells) old.push_back(c.u);
    for (auto& [at, c] : cells) {
      std::vector<std::pair<index2, double>> came;
      for (const auto& n : all_cells.neighbours(at)) came.push_back({n.at, old[std::size_t(n.at.x + 5 * n.at.y)]});
      std::ranges::stable_sort(came, [](auto& a, auto& b) { return before(a.first, b.first); });
      for (auto& [from, u] : came) c.u = mixed(c.u, u);
      c.history.push_back(c.u);
    }
    std::vector<double> by_place(cells.size());
    for (auto& [at, c] : cells) by_place[hilbert_homes(all_cells).position(at)] = c.u;
    out.bracketed.push_back(bracketed(by_place, 0, by_place.size()));
    out.sums.push_back(bracket(1.5, out.bracketed.back()));
    std::map<std::uint64_t, double> some;
    for (auto& [at, c] : cells)
      if (at.x % 2 == 1) some[hilbert_homes(all_cells).position(at)] = c.u;
    out.of_some.emplace_back();
    for (const auto& [place, u] : some) out.of_some.back().push_back(u);
  }
  for (auto& [at, c] : cells) out.histories.push_back({at, c.history});
  return out;
}

std::atomic<long> moves{0}, detours{0};

result run_rounds(collection<cell, index2>& cells, unsigned seed, bool wander, int from, int to) {
  auto halo = cells.make_port<double>("halo");
  const auto wanders = [=, ranks = std::uint64_t(cells.size())](auto& context) {
    if (const auto word = drawn(seed, context.index(), context.step()); wander && word % 2)
      context.move_to(int(word / 2 % ranks));
  };
  std::vector<task::future<double>> sums, bracketed;
  std::vector<task::future<std::vector<double>>> of_some;
  for (int round = from; round < to; ++round) {
    cells.each("send", [=](cell& c, auto& context) {
      for (const auto& n : all_cells.neighbours(context.index())) context.send(halo, n.at, c.u);
      wanders(context);
    });
    cells.each("mix", halo.of(8), [=](cell& c, auto& context) {
      for (auto& [from, u] : context.take(halo)) c.u = mixed(c.u, u);
      c.history.push_back(c.u);
      wanders(context);
    });
    sums.push_back(cells.reduce("sum", [](const cell& c) { return c.u; }, 1.5, bracket));
    bracketed.push_back(cells.reduce("bracketed", [](const cell& c) { return c.u; }, bracket));
    of_some.push_back(cells.reduce(
        "odd columns",
        [](const cell& c, index2 at) { return at.x % 2 == 1 ? std::optional(std::vector{c.u}) : std::nullopt; },
        [](std::vector<double> a, const std::vector<double>& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        }));
  }
  auto histories = cells.gather("histories", [](const cell& c) { return c.history; }, cells.size() - 1);
  cells.wait();
  result out{histories.get()};
  for (auto& s : sums) out.sums.push_back(s.get());
  for (auto& s : bracketed) out.bracketed.push_back(s.get());
  for (auto& s : of_some) out.of_some.push_back(s.get());
  moves += long(cells.moved());
  detours += long(cells.forwarded());
  return out;
}

result in_a_collection(const comm::communicator& world, task::detail::pool_base& pool, unsigned seed, bool wander) {
  collection<cell, index2> cells("cells", world, pool, hilbert_homes(all_cells), first);
  if (seed % 3 == 0) cells.keep_within(2 + seed % 4);
  return run_rounds(cells, seed, wander, 0, rounds);
}

TEST(collection_in_one_process, elements_that_wander_come_to_the_same_bits) {
  const result expected = in_a_loop();
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(60); ++seed) {
      const int ranks = 1 + int(seed % 8);
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        const result found = in_a_collection(world, pool, seed, seed % 10 != 9);
        EXPECT_EQ(found.sums, expected.sums) << "seed " << seed;
        EXPECT_EQ(found.bracketed, expected.bracketed) << "seed " << seed;
        EXPECT_EQ(found.of_some, expected.of_some) << "seed " << seed;
        if (world.rank() == ranks - 1) {
          EXPECT_EQ(found.histories, expected.histories) << "seed " << seed;
        } else {
          EXPECT_TRUE(found.histories.empty());
        }
      });
      EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
    }
  });
  EXPECT_GT(moves, 1000);
  EXPECT_GT(detours, 1000);
}

TEST(collection_in_one_process, runs_on_every_back_end) {
  const result expected = in_a_loop();
  for (const auto& backend : task::backends())
    for (const int workers : {1, 3})
      task::with_backend(backend, {.workers = workers}, [&](auto& pool) {
        const auto said = on_ranks(2, 1, [&](const comm::communicator& world) {
          EXPECT_EQ(in_a_collection(world, pool, 1, true).sums, expected.sums);
        });
        EXPECT_EQ(said, no_errors(2));
      });
}

// A trace has a task for each step of each element.
TEST(collection_in_one_process, steps_are_tasks_by_their_name) {
  struct counts final : trace::listener {
    void created(std::uint64_t, std::uint64_t, std::string_view name) noexcept override {
      const std::lock_guard lock(guard);
      ++of[std::string(name)];
    }
    void started(std::uint64_t, int) noexcept override {}
    void suspended(std::uint64_t) noexcept override {}
    void ready(std::uint64_t) noexcept override {}
    void resumed(std::uint64_t, int) noexcept override {}
    void finished(std::uint64_t) noexcept override {}
    void linked(std::uint64_t, std::uint64_t) noexcept override {}
    std::mutex guard;
    std::map<std::string, int> of;
  } seen;
  trace::set_listener(&seen);
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    on_ranks(3, 1, [&](const comm::communicator& world) { in_a_collection(world, pool, 1, true); });
  });
  trace::set_listener(nullptr);
  EXPECT_EQ(seen.of["send"], 20 * rounds);
  EXPECT_EQ(seen.of["mix"], 20 * rounds);
  EXPECT_EQ(seen.of["sum"], 20 * rounds);
}

// A tree that grows and loses its leaves: keys are paths, bits after a leading one.
struct tree_leaf {
  double mass = 1;
  void serialize(archive& ar) { ar(mass); }
};
TEST(collection_in_one_process, elements_come_and_go) {
  std::mutex guard;
  std::array<std::set<double>, 5> orders;  // by level: the same on any number of ranks
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(24); ++seed) {
      const int ranks = 1 + int(seed % 5);
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        collection<tree_leaf, std::uint64_t> tree("tree", world, pool, hashed_homes<std::uint64_t>());
        auto down = tree.template make_port<double>("down");
        if (world.rank() == ranks - 1) tree.insert(1, {});
        for (int level = 0; level < 5; ++level) {
          // Who has no children yet, and is not a leaf for good, has two, who hear how heavy they are.
          tree.each("split", [=, p = world.size()](tree_leaf& l, auto& context) {
            const std::uint64_t at = context.index();
            for (const std::uint64_t child : {2 * at, 2 * at + 1}) {
              context.insert(child, {});
              context.send(down, child, l.mass / 3 * (1 + double(child % 2)));
            }
            context.remove();
            if (drawn(seed, {int(at), 0}, context.step()) % 3 == 0) context.move_to(int(at % std::uint64_t(p)));
          });
          tree.each("weigh", down.of(1), [=, p = world.size()](tree_leaf& l, auto& context) {
            l.mass = context.take(down).at(0).value;
            context.move_to(int(drawn(seed, {int(context.index()), 0}, context.step()) % std::uint64_t(p)));
          });
          auto masses = tree.reduce("masses", [](const tree_leaf& l) { return l.mass; }, 0.0, std::plus<>());
          EXPECT_NEAR(masses.get(), 1, 1e-14);
          const auto order = tree.reduce("order", [](const tree_leaf& l) { return l.mass; }, bracket).get();
          {
            const std::lock_guard lock(guard);
            orders[std::size_t(level)].insert(order);
          }
          const auto most = [](double a, double b) { return std::max(a, b); };
          EXPECT_LT(tree.reduce("least", [](const tree_leaf& l) { return -l.mass; }, most).get(), 0);
        }
        auto leaves = tree.gather("leaves", [](const tree_leaf&, std::uint64_t at) { return at; });
        tree.wait();
        const auto all = leaves.get();
        EXPECT_EQ(all.size(), world.rank() == 0 ? 32u : 0u);
        for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].second, 32 + i);
      });
      EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
    }
  });
  for (const auto& of_level : orders) EXPECT_EQ(of_level.size(), 1u);
}

// A key that goes and comes again.
TEST(collection_in_one_process, a_key_may_be_used_again) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(20); ++seed) {
      const auto said = on_ranks(3, seed, [&](const comm::communicator& world) {
        collection<tree_leaf, std::uint64_t> some("some", world, pool, hashed_homes<std::uint64_t>());
        auto news = some.template make_port<int>("news");
        if (world.rank() == 0) some.insert(0, {});  // who stays, and tells the other
        for (int life = 0; life < 4; ++life) {
          if (world.rank() == 1) some.insert(7, {double(life)});
          some.each("tell", [=](tree_leaf&, auto& context) {
            if (context.index() == 0) context.send(news, 7, life);
            context.move_to(int(drawn(seed, {int(context.index()), 1}, context.step()) % 3));
          });
          some.each("hear", news.of([](std::uint64_t at) { return at == 7; }), [=](tree_leaf& l, auto& context) {
            for (const auto& [from, value] : context.take(news)) EXPECT_EQ(value, int(l.mass));
            context.move_to(int(drawn(seed, {int(context.index()), 2}, context.step()) % 3));
          });
          some.each("go", [=](tree_leaf&, auto& context) {
            if (context.index() == 7) context.remove();
          });
          some.wait();
        }
      });
      EXPECT_EQ(said, no_errors(3)) << "seed " << seed;
    }
  });
}

}  // namespace
}  // namespace plaq
