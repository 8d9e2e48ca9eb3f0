// Handlers of elements: messages that run where they arrive, beside steps, moves and balancing.
#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "cells.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

constexpr int vertices = 60, nowhere = 1 << 20;
struct vertex {
  int distance = nowhere;
  int calls = 0, steps = 0;
  void serialize(archive& ar) { ar(distance, calls, steps); }
};
/// Three edges of a vertex of a random graph.
std::vector<int> edges(unsigned seed, int from) {
  std::vector<int> out{(from + 1) % vertices};
  for (int k = 0; k < 2; ++k) out.push_back(int(drawn(seed, {from, k}, 7) % vertices));
  return out;
}
std::vector<int> distances(unsigned seed) {
  std::vector<int> out(vertices, nowhere);
  out[0] = 0;
  for (int round = 0; round < vertices; ++round)
    for (int v = 0; v < vertices; ++v)
      for (const int to : edges(seed, v))
        out[std::size_t(to)] = std::min(out[std::size_t(to)], out[std::size_t(v)] + 1);
  return out;
}

// Distances in a graph by relaxation: in any order of messages they come to the same.
TEST(handlers, reach_elements_that_wander) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(40); ++seed) {
      const int ranks = 1 + int(seed % 6);
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        collection<vertex, int> graph(
            "graph", world, pool, row_homes(box(vertices)), [](int) { return vertex{}; }, load::work);
        const auto relax = graph.on<int>("relax", [=](vertex& v, auto& context, const auto& message, auto& self) {
          ++v.calls;
          context.work(1);
          if (message.value >= v.distance) return;
          v.distance = message.value;
          for (const int to : edges(seed, context.index())) context.call(self, to, v.distance + 1);
        });
        const auto on = graph.make_port<int>("on");
        graph.each("begin", [=](vertex&, auto& context) {
          if (context.index() == 0) context.call(relax, 0, 0);
          context.send(on, (context.index() + 1) % vertices, context.index());
        });
        for (int step = 0; step < 12; ++step) {
          graph.each("wander", on.of(1), [=](vertex& v, auto& context) {
            ++v.steps;
            (void)context.take(on);
            context.send(on, (context.index() + 1) % vertices, step);
            const auto w = drawn(seed, {context.index(), 3}, context.step());
            if (w % 2) context.move_to(int(w / 2 % std::uint64_t(ranks)));
          });
          if (step % 5 == 2) (void)graph.balance({.by = step == 2 ? "longest_first" : "gossip"});
        }
        graph.each("end", on.of(1), [=](vertex&, auto& context) { (void)context.take(on); });
        graph.wait();
        const auto expected = distances(seed);
        graph.each_local([&](int at, const vertex& v) {
          EXPECT_EQ(v.distance, expected[std::size_t(at)]) << "seed " << seed;
          EXPECT_EQ(v.steps, 12);
        });
        // every improvement calls three, and nothing is lost or doubled
        const auto calls = graph.reduce("calls", [](const vertex& v) { return v.calls; }, std::plus<>()).get();
        EXPECT_EQ(calls % 3, 1) << "seed " << seed;
      });
      EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
    }
  });
}

// One worker: what waits runs by priority, over all elements of the rank.
TEST(handlers, run_by_priority) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    const auto said = on_ranks(1, 1, [&](const comm::communicator& world) {
      collection<int, int> row("row", world, pool, row_homes(box(4)), [](int) { return 0; });
      std::mutex guard;
      std::vector<int> order;
      const auto note = [&](int&, auto&, const auto& message, auto&) {
        const std::lock_guard lock(guard);
        order.push_back(message.value);
      };
      const auto low = row.on<int>("low", note, -1), middle = row.on<int>("middle", note),
                 high = row.on<int>("high", note, 5);
      row.each("call", [=](int&, auto& context) {
        if (context.index() != 0) return;
        for (const int to : {1, 2, 3, 1}) context.call(low, to, 1);
        for (const int to : {3, 2, 3, 0}) context.call(middle, to, 2);
        for (const int to : {0, 0, 2, 0}) context.call(high, to, 3);
      });
      row.wait();
      ASSERT_EQ(order.size(), 12u);
      const auto of_element = [&](int value) { return std::ranges::count(order, value); };
      EXPECT_EQ(of_element(3), 4);
      EXPECT_LT(std::ranges::find(order, 3) - order.begin(), std::ranges::find(order, 1) - order.begin());
    });
    EXPECT_EQ(said, no_errors(1));
  });
}

TEST(handlers, report_their_errors) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(2, 4, [&](const comm::communicator& world) {
      collection<int, int> row("row", world, pool, row_homes(box(4)), [](int) { return 0; });
      const auto fall = row.on<int>("fall", [](int&, auto&, const auto& m, auto&) {
        if (m.value == 2) throw std::runtime_error("fell");
      });
      row.each("call", [=](int&, auto& context) { context.call(fall, (context.index() + 1) % 4, context.index()); });
      row.wait();
    });
    for (const auto& why : said) EXPECT_EQ(why.find("rank 1: row (3), 'fall': fell"), 0u) << why;
  });
}

}  // namespace
}  // namespace plaq
