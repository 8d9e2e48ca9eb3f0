#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "plaq/comm/messages/match_table.hpp"

namespace {

struct entry : plaq::comm::matched {
  entry(int peer, int tag, int value) : matched{peer, tag}, value(value) {}
  int value;
};

// The oracle is one queue, gone through from its begin.
TEST(match_table, keeps_the_order_of_each_peer_and_tag_and_of_each_tag_however_much_it_grows) {
  std::mt19937 schedule_runner(1);
  const auto below = [&](int n) { return int(schedule_runner() % unsigned(n)); };
  plaq::comm::match_table<entry> table;
  std::vector<std::unique_ptr<entry>> queue;
  EXPECT_EQ(table.find(0, 0), nullptr);
  EXPECT_EQ(table.find(0), nullptr);
  for (int i = 0; i < 20000; ++i) {
    const int peer = below(5), tag = below(30);
    if (below(10) < (i < 10000 ? 7 : 3)) {
      queue.push_back(std::make_unique<entry>(peer, tag, i));
      table.push(*queue.back());
    } else {
      const bool any = below(2);
      entry* const found = any ? table.find(tag) : table.find(peer, tag);
      const auto expected =
          std::ranges::find_if(queue, [&](const auto& e) { return e->tag == tag && (any || e->peer == peer); });
      ASSERT_EQ(found, expected == queue.end() ? nullptr : expected->get());
      if (!found) continue;
      table.remove(*found);
      queue.erase(expected);
    }
    ASSERT_EQ(table.size(), queue.size());
  }
  for (std::size_t i = 1; i < queue.size(); ++i) EXPECT_LT(queue[i - 1]->number, queue[i]->number);
  std::size_t seen = 0;
  table.each([&](entry&) { ++seen; });
  EXPECT_EQ(seen, queue.size());
}

}  // namespace
