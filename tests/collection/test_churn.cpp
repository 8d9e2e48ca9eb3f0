// Whole programs that are drawn: who sends to whom, who moves, when all balance and by what, when all is saved and
// read again on other ranks. The same is done in a loop; every bit has to agree.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cells.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

struct counter {
  std::uint64_t u = 1;
  std::vector<std::uint64_t> ballast;  ///< elements differ in size, and grow
  void serialize(archive& ar) { ar(u, ballast); }
  bool operator==(const counter&) const = default;
};

constexpr int width = 5, height = 3, all_rounds = 7;
const box mesh(index2{width, height});
int number_of(index2 at) { return at.x + width * at.y; }
std::uint64_t power_of_5(int n) { return n == 0 ? 1 : 5 * power_of_5(n - 1); }
index2 point_of(int number) { return {number % width, number / width}; }

/// What is drawn for an element and a round.
std::uint64_t word(unsigned seed, int number, int round, int purpose) {
  return random_words({.seed = seed, .purpose = 77, .i = std::uint32_t(number), .j = std::uint32_t(round)},
                      std::uint64_t(purpose))[0];
}
/// To whom an element sends in a round: none to four, some twice.
std::vector<int> receivers(unsigned seed, int number, int round) {
  std::vector<int> out;
  for (int k = 0; k < int(word(seed, number, round, 0) % 5); ++k)
    out.push_back(int(word(seed, number, round, 1 + k) % (width * height)));
  return out;
}
std::size_t expected_by(unsigned seed, int number, int round) {
  std::size_t out = 0;
  for (int from = 0; from < width * height; ++from)
    out += std::size_t(std::ranges::count(receivers(seed, from, round), number));
  return out;
}
std::uint64_t mixed_in(std::uint64_t u, int from, std::uint64_t value) {
  return (u ^ std::uint64_t(from)) * 0x9e3779b97f4a7c15u + value;
}
void grow(counter& c, int round) {
  if (c.u % 3 == 0) c.ballast.push_back(c.u + std::uint64_t(round));
}

struct state {
  std::vector<counter> elements = std::vector<counter>(width * height);
  std::vector<std::uint64_t> sums = {};
};

state in_a_loop(unsigned seed) {
  state out;
  for (int k = 0; k < width * height; ++k) out.elements[std::size_t(k)].u = std::uint64_t(k + 1);
  for (int round = 0; round < all_rounds; ++round) {
    const auto before = out.elements;
    for (int to = 0; to < width * height; ++to)
      for (int from = 0; from < width * height; ++from) {
        auto& mine = out.elements[std::size_t(to)];
        const auto whom = receivers(seed, from, round);
        for (std::size_t k = 0; k < whom.size(); ++k)
          if (whom[k] == to) mine.u = mixed_in(mine.u, from, before[std::size_t(from)].u + k);
      }
    std::uint64_t sum = 0;
    for (auto& c : out.elements) {
      grow(c, round);
      sum = sum * 5 + c.u;
    }
    out.sums.push_back(sum);
  }
  return out;
}

void run_rounds(collection<counter, index2>& all, unsigned seed, int from, int to, std::vector<std::uint64_t>& sums) {
  auto by = all.make_port<std::uint64_t>("by");
  std::vector<task::future<std::uint64_t>> under_way;
  for (int round = from; round < to; ++round) {
    const auto wander = [=, p = std::uint64_t(all.size())](auto& context, int purpose) {
      if (const auto w = word(seed, number_of(context.index()), round, purpose); w % 3 == 0)
        context.move_to(int(w / 3 % p));
    };
    all.each("send", [=](counter& c, auto& context) {
      const auto whom = receivers(seed, number_of(context.index()), round);
      for (std::size_t k = 0; k < whom.size(); ++k) context.send(by, point_of(whom[k]), c.u + k);
      context.work(double(1 + c.u % 10));
      wander(context, 10);
    });
    all.each("mix", by.of([=](index2 at) { return expected_by(seed, number_of(at), round); }),
             [=](counter& c, auto& context) {
               for (const auto& [sender, value] : context.take(by)) c.u = mixed_in(c.u, number_of(sender), value);
               grow(c, round);
               wander(context, 11);
             });
    under_way.push_back(all.reduce(
        "sum", [](const counter& c, index2 at) { return c.u * power_of_5(width * height - 1 - number_of(at)); },
        std::uint64_t(0), std::plus<>()));
    const auto w = word(seed, 1000, round, 12);
    if (w % 2 == 0) {
      const auto& which = balance::balancers()[w / 2 % balance::balancers().size()];
      auto came_to = all.balance({.by = std::string(which.name), .ranks_per_node = 2});
      if (w % 4 == 0) {  // some wait for it, others run ahead
        const auto what = came_to.get();
        EXPECT_LE(what.predicted, what.before) << which.name;
        EXPECT_GE(what.predicted, what.floor * (1 - 1e-12)) << which.name;
      }
    }
    if (w % 7 == 0) all.wait();
  }
  all.wait();
  for (auto& sum : under_way) sums.push_back(sum.get());
}

TEST(collection_churn, comes_to_the_bits_of_a_loop) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(30); ++seed) {
      const state expected = in_a_loop(seed);
      const int ranks = 1 + int(seed % 8);
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        collection<counter, index2> all(
            "all", world, pool, seed % 2 ? row_homes(mesh) : hilbert_homes(mesh),
            [](index2 at) { return counter{std::uint64_t(number_of(at) + 1), {}}; }, load::work);
        if (seed % 3 == 0) all.keep_within(2 + seed % 5);
        std::vector<std::uint64_t> sums;
        run_rounds(all, seed, 0, all_rounds, sums);
        EXPECT_EQ(sums, expected.sums) << "seed " << seed;
        all.each_local([&](index2 at, const counter& c) {
          EXPECT_EQ(c, expected.elements[std::size_t(number_of(at))]) << "seed " << seed;
        });
        const auto count = all.reduce("count", [](const counter&) { return 1; }, 0, std::plus<>()).get();
        EXPECT_EQ(count, width * height);
      });
      EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
    }
  });
}

// In two parts, with a checkpoint between them that other ranks go on from.
TEST(collection_churn, goes_on_from_checkpoints_on_other_ranks) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_churn_" + std::to_string(::getpid()));
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 100; seed < 100 + seeds(10); ++seed) {
      std::filesystem::remove_all(folder);
      const state expected = in_a_loop(seed);
      const int half = 1 + int(seed % (all_rounds - 1)), before = 1 + int(seed % 4), after = 1 + int(seed / 2 % 4);
      std::vector<std::uint64_t> first;
      auto said = on_ranks(before, seed, [&](const comm::communicator& world) {
        collection<counter, index2> all(
            "all", world, pool, hilbert_homes(mesh),
            [](index2 at) { return counter{std::uint64_t(number_of(at) + 1), {}}; }, load::work);
        std::vector<std::uint64_t> sums;
        run_rounds(all, seed, 0, half, sums);
        all.save(folder);
        if (world.rank() == 0) first = sums;
      });
      EXPECT_EQ(said, no_errors(before)) << "seed " << seed;
      said = on_ranks(after, seed + 1, [&](const comm::communicator& world) {
        collection<counter, index2> all("all", world, pool, row_homes(mesh), checkpoint{folder}, load::work);
        std::vector<std::uint64_t> sums = first;
        run_rounds(all, seed, half, all_rounds, sums);
        EXPECT_EQ(sums, expected.sums) << "seed " << seed;
        all.each_local([&](index2 at, const counter& c) {
          EXPECT_EQ(c, expected.elements[std::size_t(number_of(at))]) << "seed " << seed;
        });
      });
      EXPECT_EQ(said, no_errors(after)) << "seed " << seed;
    }
  });
  std::filesystem::remove_all(folder);
}

/// Number of steps of so many rounds.
std::int64_t steps_of(unsigned seed, int rounds) {
  std::int64_t steps = 0;
  for (int round = 0; round < rounds; ++round) steps += word(seed, 1000, round, 12) % 2 == 0 ? 4 : 3;
  return steps;
}

/// Goes on from the checkpoint in the folder, if there is one, and writes one after each round.
std::vector<std::string> run_to_the_end(const std::filesystem::path& folder, unsigned seed, int ranks,
                                        const state& expected) {
  std::vector<std::string> said;
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
      std::optional<collection<counter, index2>> all;
      if (std::filesystem::exists(folder / "all.checkpoint"))
        all.emplace("all", world, pool, hilbert_homes(mesh), checkpoint{folder}, load::work);
      else
        all.emplace(
            "all", world, pool, row_homes(mesh),
            [](index2 at) { return counter{std::uint64_t(number_of(at) + 1), {}}; }, load::work);
      int begin = 0;
      while (steps_of(seed, begin) < all->steps()) ++begin;
      EXPECT_EQ(steps_of(seed, begin), all->steps()) << "seed " << seed << ": the checkpoint is of the end of a round";
      for (int round = begin; round < all_rounds; ++round) {
        std::vector<std::uint64_t> sums;
        run_rounds(*all, seed, round, round + 1, sums);
        EXPECT_EQ(sums.front(), expected.sums[std::size_t(round)]) << "seed " << seed << ", round " << round;
        all->save(folder);
      }
      all->each_local([&](index2 at, const counter& c) {
        EXPECT_EQ(c, expected.elements[std::size_t(number_of(at))]) << "seed " << seed;
      });
    });
  });
  return said;
}

// A process that is killed at any moment, also while it writes, leaves a checkpoint that other ranks go on from.
TEST(collection_churn, goes_on_after_kills_on_other_ranks) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_killed_" + std::to_string(::getpid()));
  int in_progress = 0, restored = 0;
  for (unsigned seed = 200; seed < 200 + seeds(6); ++seed) {
    std::filesystem::remove_all(folder);
    const state expected = in_a_loop(seed);
    int ranks = 1 + int(seed % 4);
    for (int kills = 0; kills < 2; ++kills, ranks = 1 + (ranks + int(seed % 3)) % 4) {
      const pid_t child = ::fork();
      ASSERT_GE(child, 0);
      if (child == 0) ::_exit(run_to_the_end(folder, seed, ranks, expected) == no_errors(ranks) ? 0 : 1);
      ::usleep(unsigned(word(seed, kills, 0, 20) % 150000));
      ::kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      if (WIFSIGNALED(status)) ++in_progress;
      if (std::filesystem::exists(folder / "all.checkpoint")) ++restored;
      ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "seed " << seed;
    }
    EXPECT_EQ(run_to_the_end(folder, seed, ranks, expected), no_errors(ranks)) << "seed " << seed;
  }
  RecordProperty("killed", in_progress);
  RecordProperty("restored", restored);
  std::filesystem::remove_all(folder);
}

// Two collections of one program do not disturb each other.
TEST(collection_churn, two_at_once) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(6); ++seed) {
      const state one = in_a_loop(seed), two = in_a_loop(seed + 50);
      const auto said = on_ranks(3, seed, [&](const comm::communicator& world) {
        const auto make = [](index2 at) { return counter{std::uint64_t(number_of(at) + 1), {}}; };
        const collection_group group(world, pool);
        collection<counter, index2> a("a", group, row_homes(mesh), make, load::work);
        collection<counter, index2> b("b", world, pool, hilbert_homes(mesh), make, load::work);
        std::vector<std::uint64_t> of_a, of_b;
        run_rounds(a, seed, 0, 3, of_a);
        run_rounds(b, seed + 50, 0, all_rounds, of_b);
        run_rounds(a, seed, 3, all_rounds, of_a);
        EXPECT_EQ(of_a, one.sums);
        EXPECT_EQ(of_b, two.sums);
      });
      EXPECT_EQ(said, no_errors(3)) << "seed " << seed;
    }
  });
}

}  // namespace
}  // namespace plaq
