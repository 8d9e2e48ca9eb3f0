// Messages that are put together, and results that reach those whom they concern.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "cells.hpp"
#include "plaq/collection/runtime/outbox.hpp"
#include "plaq/collection/runtime/reductions.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

TEST(outbox, keeps_messages_until_a_buffer_is_full_or_flushed) {
  std::multimap<int, std::vector<std::byte>> sent;
  elements::outbox box([&](std::vector<std::byte> bundle, int rank) { sent.emplace(rank, std::move(bundle)); });
  const auto of = [](std::size_t n, int value) { return std::vector<std::byte>(n, std::byte(value)); };
  box.add(of(10, 1), 3);
  box.add(of(20, 2), 3);
  box.add(of(0, 0), 5);
  EXPECT_TRUE(sent.empty());
  box.add(of(5000, 4), 5);  // which is full now
  ASSERT_EQ(sent.size(), 1u);
  box.flush();
  ASSERT_EQ(sent.size(), 2u);
  box.flush();
  EXPECT_EQ(sent.size(), 2u);
  const auto messages = [&](int rank) {
    std::vector<std::vector<std::byte>> out;
    elements::for_each_message(sent.find(rank)->second,
                               [&](auto bytes) { out.emplace_back(bytes.begin(), bytes.end()); });
    return out;
  };
  EXPECT_EQ(messages(3), (std::vector{of(10, 1), of(20, 2)}));
  EXPECT_EQ(messages(5), (std::vector{of(0, 0), of(5000, 4)}));
}

// Two ranks whose elements all send to the other rank: some messages of the communicator for 200 of elements.
TEST(outbox, puts_messages_of_a_step_together) {
  constexpr int n = 200, steps = 20;
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    network all(2, 5);
    const auto body = [&](int rank) {
      const auto world = all.world(rank);
      const auto homes = homes_by_rule(box(n), [](int at, int ranks) { return at % ranks; });
      collection<double, int> row("row", world, pool, homes, [](int) { return 1.0; });
      auto on = row.template make_port<double>("on");
      for (int k = 0; k < steps; ++k) {
        row.each("send", [=](double& u, auto& context) { context.send(on, (context.index() + 1) % n, u); });
        row.each("take", on.of(1), [=](double& u, auto& context) { u += context.take(on)[0].value; });
      }
      row.wait();
      row.each_local([&](int, double u) { EXPECT_EQ(u, double(1 << steps)); });
    };
    {
      std::jthread other([&] { body(1); });
      body(0);
    }
    EXPECT_LT(all.letters(), n * steps / 2);
  });
}

// What one rank gets beside the result passes only through the ranks between the root and it.
TEST(reductions, tell_each_rank_its_part) {
  struct letter {
    int to;
    elements::reduction_result what;
  };
  for (int ranks = 1; ranks < 20; ++ranks)
    for (const int root : {0, ranks / 2, ranks - 1}) {
      std::vector<letter> under_way;
      std::vector<std::unique_ptr<elements::reductions>> all;
      std::vector<int> got(std::size_t(ranks), -1);
      for (int r = 0; r < ranks; ++r) {
        all.push_back(std::make_unique<elements::reductions>(
            r, ranks,
            elements::reductions::environment{
                .own_elements = [] { return 1; },
                .all_elements = [] { return 1; },
                .elements_at_home = [] { return 1; },
                .home = [](auto) { return 0; },
                .send_contribution = [](const auto&, int) {},
                .send_result = [&](const auto& what, int to) { under_way.push_back({to, what}); },
                .done = [](auto) {}}));
        elements::reductions::request what{.name = "told", .root = root};
        what.take = [&got, r](auto, auto own) { got[std::size_t(r)] = own.empty() ? 0 : int(own[0]); };
        all.back()->begin(0, std::move(what));
      }
      elements::reduction_result result{0, root, {}, {}};
      for (int r = 0; r < ranks; ++r)
        if (r % 3 != 1) result.of_ranks.emplace_back(r, std::vector{std::byte(r + 1)});
      under_way.push_back({root, result});
      std::size_t carried = 0;
      while (!under_way.empty()) {
        const letter next = std::move(under_way.back());
        under_way.pop_back();
        carried += next.what.of_ranks.size();
        all[std::size_t(next.to)]->receive(next.what);
      }
      for (int r = 0; r < ranks; ++r) EXPECT_EQ(got[std::size_t(r)], r % 3 != 1 ? r + 1 : 0) << ranks << " " << root;
      EXPECT_LE(carried, std::size_t(ranks * 5));
    }
}

}  // namespace
}  // namespace plaq
