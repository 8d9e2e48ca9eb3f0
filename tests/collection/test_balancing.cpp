// Collections that balance: elements move, bits stay.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <mutex>
#include <string>
#include <vector>

#include "cells.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

// Elements that count how often they were pushed, some ten times as often as others.
struct heavy {
  std::vector<double> u = std::vector<double>(20, 1);
  void serialize(archive& ar) { ar(u); }
};
TEST(collection_balancing, balancing_moves_elements_and_keeps_bits) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (const auto& by : balance::balancers())
      for (const int ranks : {1, 4}) {
        std::vector<balance_result> found(2);
        const auto said = on_ranks(ranks, 2, [&](const comm::communicator& world) {
          const box mesh(index2{8, 4});
          collection<heavy, index2> all(
              "all", world, pool, hilbert_homes(mesh), [](index2) { return heavy{}; }, load::work);
          auto halo = all.template make_port<double>("halo");
          std::vector<balance_result> results;
          for (int round = 0; round < 2; ++round) {
            for (int n = 0; n < 3; ++n) {
              all.each("send", [=](heavy& h, auto& context) {
                for (const auto& at : mesh.faces(context.index())) context.send(halo, at.at, h.u[0]);
              });
              all.each("take", halo.of([=](index2 at) { return mesh.faces(at).size(); }), [=](heavy& h, auto& context) {
                for (auto& [from, u] : context.take(halo)) h.u[1] = mixed(h.u[1], u);
                context.work(context.index().x == 0 ? 10 : 1);
              });
            }
            results.push_back(all.balance({.by = std::string(by.name)}).get());
          }
          all.wait();
          if (world.rank() == 0) found = results;
          const double u =
              all.reduce(
                     "u", [](const heavy& h) { return h.u[1]; }, [](double s, double v) { return s / 3 + v; })
                  .get();
          static const double first = u;  // of one rank, where nothing moves
          EXPECT_EQ(u, first) << by.name;
        });
        EXPECT_EQ(said, no_errors(ranks)) << by.name;
        EXPECT_GE(found[0].before, ranks == 1 ? 0 : 0.5);
        EXPECT_EQ(found[0].floor, 0);  // 4 elements of 10, and 28 of 1: none is too large
        EXPECT_LE(found[0].predicted, found[0].before);
        EXPECT_NEAR(found[1].before, found[0].predicted, 1e-12) << by.name;  // and so it was
        if (ranks > 1 && by.name == "greedy_refine") {
          EXPECT_GT(found[0].moved, 0);
          EXPECT_LT(found[1].before, 0.1);
        }
        if (by.name == "none" || ranks == 1) {
          EXPECT_EQ(found[0].moved_bytes, 0);
        } else if (found[0].moved > 0) {
          EXPECT_EQ(found[0].moved_bytes, found[0].moved * (8 + 20 * 8));
        }
      }
  });
}

TEST(collection_balancing, moves_where_it_pays) {
  elements::element_report small{.load = 1, .bytes = 1000, .seconds_per_byte = 0, .rank = 0};
  std::vector<std::pair<elements::key, elements::element_report>> all;
  for (elements::key k = 0; k < 4; ++k) all.emplace_back(k, small);
  const auto position = [](elements::key k) { return k; };
  const auto moved = [&](double seconds_per_byte, bool only_if_it_pays) {
    for (auto& [k, r] : all) r.seconds_per_byte = seconds_per_byte;
    return elements::plan_migration(all, {.only_if_it_pays = only_if_it_pays}, 2, position, {}).result.moved;
  };
  EXPECT_EQ(moved(0.01, false), 2);
  EXPECT_EQ(moved(0.0009, true), 2);  // 2 seconds less for 2000 bytes
  EXPECT_EQ(moved(0.0011, true), 0);
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Loads that are known: 4 elements, two of 3 and two of 1, that send 8 bytes to the next.
TEST(collection_balancing, records_what_a_balancing_knew_and_said) {
  const auto file = std::filesystem::temp_directory_path() / ("plaq_recorded_" + std::to_string(::getpid()));
  std::vector<balance_result> found;
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(2, 3, [&](const comm::communicator& world) {
      collection<double, int> row(
          "a \"row\"", world, pool, row_homes(box(4)), [](int i) { return 0.5 * i; }, load::work);
      auto by = row.template make_port<double>("by");
      row.record_loads(file);
      for (int n = 0; n < 2; ++n) {
        row.each("send", [=](double& u, auto& context) {
          context.work(context.index() < 2 ? 3 : 1);
          if (context.index() < 3) context.send(by, context.index() + 1, u);
        });
        row.each("take", by.of([](int i) { return i > 0; }), [](double&) {});
        const auto came_to = row.balance({.by = n ? "none" : "longest_first"}).get();
        if (world.rank() == 0) found.push_back(came_to);
      }
      row.wait();
    });
    EXPECT_EQ(said, no_errors(2));
  });
  EXPECT_TRUE(std::isnan(found[0].expected));
  EXPECT_EQ(found[1].expected, found[0].predicted);
  EXPECT_EQ(found[1].before, found[0].predicted);  // and so it came
  const auto recorded = text_of(file);
  std::filesystem::remove(file);
  EXPECT_EQ(recorded,
            "{\"plaq loads\":1,\"name\":\"a \\\"row\\\"\",\"unit\":\"work\"}\n"
            "{\"ranks\":2,\"ranks_per_node\":1,\"by\":\"longest_first\",\"keys\":[0,1,2,3],\"loads\":[3,3,1,1],"
            "\"where\":[0,0,1,1],\"to\":[0,1,0,1],\"bytes\":[8,8,8,8],\"positions\":[0,1,2,3],"
            "\"points\":[[0,0,0],[1,0,0],[2,0,0],[3,0,0]],\"edges\":[[0,1,8],[1,2,8],[2,3,8]]}\n"
            "{\"ranks\":2,\"ranks_per_node\":1,\"by\":\"none\",\"keys\":[0,1,2,3],\"loads\":[3,3,1,1],"
            "\"where\":[0,1,0,1],\"to\":[0,1,0,1],\"bytes\":[8,8,8,8],\"positions\":[0,1,2,3],"
            "\"points\":[[0,0,0],[1,0,0],[2,0,0],[3,0,0]],\"edges\":[[0,1,8],[1,2,8],[2,3,8]]}\n");
}

TEST(collection_balancing, a_record_that_cannot_be_written_ends_the_job) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    auto said = on_ranks(2, 3, [&](const comm::communicator& world) {
      collection<double, int> row("row", world, pool, row_homes(box(4)), [](int) { return 1.0; });
      row.record_loads("/no/such/folder/loads.jsonl");
      row.wait();
    });
    EXPECT_EQ(said[0].find("the loads of a balancing cannot be written to /no/such/folder/loads.jsonl"), 0u) << said[0];
    EXPECT_EQ(said[1].find("rank 0: row: destroyed because of an error"), 0u) << said[1];
    said = on_ranks(2, 3, [&](const comm::communicator& world) {
      collection<double, int> row("row", world, pool, row_homes(box(4)), [](int) { return 1.0; });
      row.record_loads("/dev/full");
      row.balance({.by = "none"}).get();
    });
    EXPECT_NE(said[0].find("cannot be written to /dev/full"), std::string::npos) << said[0];
    EXPECT_FALSE(said[1].empty());
  });
}

TEST(collection_balancing, is_told_in_a_line) {
  balance_result what{.before = 0.52345, .predicted = 0.0381, .floor = 0.01, .moved = 1234567, .moved_bytes = 1.2e6};
  EXPECT_EQ(in_words(what), "I = 0.523, now 0.0381 is, at least 0.01; 1234567 elements move, 1.2e+06 bytes");
  what.expected = 0.5;
  EXPECT_EQ(in_words(what),
            "I = 0.523 (0.5 was predicted), now 0.0381 is, at least 0.01; 1234567 elements move, 1.2e+06 bytes");
}

TEST(collection_balancing, refuses_what_cannot_be_asked_for) {
  using elements::validate;
  const auto refused = [](const balance_options& how, load of, bool mesh) {
    try {
      validate(how, of, mesh);
      return std::string();
    } catch (const input_error& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(refused({}, load::time, false), "");
  EXPECT_NE(refused({.by = "best"}, load::time, true).find("unknown balancer 'best'"), std::string::npos);
  EXPECT_NE(refused({.by = "bisection"}, load::time, false).find("needs elements that lie on a mesh"),
            std::string::npos);
  EXPECT_EQ(refused({.by = "bisection"}, load::time, true), "");
  EXPECT_NE(refused({.most_bytes = -1}, load::time, true).find("most_bytes"), std::string::npos);
  EXPECT_NE(refused({.most_bytes = std::nan("")}, load::time, true).find("most_bytes"), std::string::npos);
  EXPECT_NE(refused({.ranks_per_node = 0}, load::time, true).find("ranks_per_node must be at least 1"),
            std::string::npos);
  EXPECT_NE(refused({.only_if_it_pays = true}, load::work, true).find("these are counted work"), std::string::npos);
}

// Elements on no mesh, some of which go between two balancings.
TEST(collection_balancing, of_elements_that_come_and_go) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(6); ++seed) {
      const auto said = on_ranks(3, seed, [&](const comm::communicator& world) {
        collection<heavy, std::uint64_t> some("some", world, pool, hashed_homes<std::uint64_t>(), load::work);
        if (world.rank() == 0)
          for (std::uint64_t k = 0; k < 30; ++k) some.insert(k, {});
        for (std::uint64_t round = 0; round < 3; ++round) {
          some.each("work", [=](heavy&, auto& context) {
            context.work(double(1 + context.index() % 7));
            if (context.index() % 10 == round) context.remove();
          });
          const auto result = some.balance().get();
          EXPECT_LT(result.predicted, 0.35) << round;
        }
        const double left = some.reduce("left", [](const heavy&) { return 1.0; }, 0.0, std::plus<>()).get();
        EXPECT_EQ(left, 21);
      });
      EXPECT_EQ(said, no_errors(3)) << "seed " << seed;
    }
  });
}

// No rank gets more bytes than it may hold, however uneven the loads are.
TEST(collection_balancing, keeps_the_cap_on_bytes) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(4, 1, [&](const comm::communicator& world) {
      collection<heavy, int> row("row", world, pool, row_homes(box(16)), [](int) { return heavy{}; }, load::work);
      row.each("work", [](heavy&, auto& context) { context.work(context.index() < 4 ? 100 : 0.01); });
      const auto open = row.balance({.by = "none"}).get();
      row.each("work", [](heavy&, auto& context) { context.work(context.index() < 4 ? 100 : 0.01); });
      const double bytes = 8 + 20 * 8;
      const auto capped = row.balance({.by = "longest_first", .most_bytes = 4 * bytes}).get();
      row.wait();
      double here_are = 0;
      row.each_local([&](int, const heavy&) { ++here_are; });
      EXPECT_EQ(here_are, 4);
      EXPECT_EQ(open.predicted, open.before);
      EXPECT_LT(capped.predicted, 0.01);
    });
    EXPECT_EQ(said, no_errors(4));
  });
}

// Those that need not know all loads, with and without a rank that does (recording, all loads go to rank 0, and
// the pure function is asked there): the same plan, on any number of ranks, in whatever order messages come.
TEST(collection_balancing, ranks_that_know_little_come_to_the_plan_of_one_that_knows_all) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_talks_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  int moved = 0;
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (const std::string by : {"gossip", "diffusion"})
      for (const int ranks : {1, 2, 3, 5, 8})
        for (const bool cap : {false, true}) {
          std::vector<std::vector<std::pair<index2, int>>> where(2);  // after all, where each element is
          std::vector<std::vector<balance_result>> said(2);
          for (const bool knows : {false, true}) {
            std::mutex guard;
            const auto errors = on_ranks(ranks, unsigned(ranks + 100 * cap), [&](const comm::communicator& world) {
              const box mesh(index2{8, 6});
              collection<heavy, index2> all(
                  "all", world, pool, hilbert_homes(mesh), [](index2) { return heavy{}; }, load::work);
              if (knows) all.record_loads(folder / ("loads" + by + std::to_string(ranks) + std::to_string(cap)));
              auto halo = all.template make_port<double>("halo");
              all.balance({.by = by}).get();  // after it bytes are counted
              std::vector<balance_result> results;
              for (int round = 0; round < 3; ++round) {
                all.each("send", [=](heavy& h, auto& context) {
                  for (const auto& at : mesh.faces(context.index())) context.send(halo, at.at, h.u[0]);
                  context.work(0.1 + 3 * std::exp(-0.5 * (context.index().x + round) - 0.3 * context.index().y));
                });
                all.each("take", halo.of([=](index2 at) { return mesh.faces(at).size(); }),
                         [=](heavy&, auto& context) { context.take(halo); });
                const double bytes = 48 * double(archive::size(heavy{})) / world.size();
                results.push_back(all.balance({.by = by, .most_bytes = cap ? 1.3 * bytes + 200 : 0}).get());
              }
              all.wait();
              std::lock_guard lock(guard);
              all.each_local([&](index2 at, const heavy&) { where[knows].emplace_back(at, world.rank()); });
              if (world.rank() == 0) said[knows] = results;
            });
            EXPECT_EQ(errors, no_errors(ranks)) << by;
            std::ranges::sort(where[knows], {}, [](const auto& one) { return std::pair(one.first.y, one.first.x); });
          }
          EXPECT_EQ(where[0].size(), 48u);
          EXPECT_TRUE(where[0] == where[1]) << by << " on " << ranks << " ranks";
          for (std::size_t round = 0; round < 3; ++round) {
            const balance_result &one = said[0][round], &other = said[1][round];
            EXPECT_NEAR(one.before, other.before, 1e-12) << by << ", round " << round;
            EXPECT_NEAR(one.predicted, other.predicted, 1e-12);
            EXPECT_NEAR(one.floor, other.floor, 1e-12);
            EXPECT_EQ(one.moved, other.moved);
            EXPECT_EQ(one.moved_bytes, other.moved_bytes);
            moved += int(one.moved);
          }
        }
  });
  EXPECT_GT(moved, 100);
  std::filesystem::remove_all(folder);
}

// What elements have sent counts from a balancing on, however far they are with the steps before it.
TEST(collection_balancing, comes_first_to_the_same_plan_however_far_the_elements_are) {
  std::vector<std::vector<std::pair<index2, int>>> where(6);
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (std::size_t repeat = 0; repeat < where.size(); ++repeat) {
      std::mutex guard;
      const auto errors = on_ranks(8, unsigned(repeat), [&](const comm::communicator& world) {
        const box mesh(index2{8, 6});
        collection<heavy, index2> all(
            "all", world, pool, hilbert_homes(mesh), [](index2) { return heavy{}; }, load::work);
        auto halo = all.template make_port<double>("halo");
        for (int round = 0; round < 2; ++round) {
          all.each("send", [=](heavy& h, auto& context) {
            for (const auto& at : mesh.faces(context.index())) context.send(halo, at.at, h.u[0]);
            context.work(0.1 + 3 * std::exp(-0.5 * context.index().x - 0.3 * context.index().y));
          });
          all.each("take", halo.of([=](index2 at) { return mesh.faces(at).size(); }),
                   [=](heavy&, auto& context) { context.take(halo); });
        }
        all.balance({.by = "diffusion"}).get();
        all.wait();
        std::lock_guard lock(guard);
        all.each_local([&](index2 at, const heavy&) { where[repeat].emplace_back(at, world.rank()); });
      });
      EXPECT_EQ(errors, no_errors(8));
      std::ranges::sort(where[repeat], {}, [](const auto& one) { return std::pair(one.first.y, one.first.x); });
    }
  });
  for (const auto& one : where) EXPECT_TRUE(one == where[0]);
}

}  // namespace
}  // namespace plaq
