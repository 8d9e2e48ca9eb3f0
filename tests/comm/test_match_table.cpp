#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <random>

#include "plaq/comm/messages/match_table.hpp"

namespace {

struct numbered : plaq::comm::matched {
  numbered(int peer, int tag, int number) : matched{peer, tag}, number(number) {}
  int number;
};

// The oracle is one queue for each peer and tag.
TEST(match_table, keeps_the_order_of_each_peer_and_tag_however_much_it_grows) {
  std::mt19937 engine(1);
  const auto below = [&](int n) { return int(engine() % unsigned(n)); };
  plaq::comm::match_table<numbered> table;
  std::map<std::pair<int, int>, std::deque<int>> oracle;
  std::vector<std::unique_ptr<numbered>> all;
  std::size_t inside = 0;
  EXPECT_EQ(table.take(0, 0), nullptr);
  for (int i = 0; i < 20000; ++i) {
    const std::pair key{below(5), below(30)};
    auto& queue = oracle[key];
    if (below(10) < (i < 10000 ? 7 : 3)) {
      all.push_back(std::make_unique<numbered>(key.first, key.second, i));
      table.push(*all.back());
      queue.push_back(i);
      ++inside;
    } else {
      const numbered* found = table.take(key.first, key.second);
      ASSERT_EQ(found != nullptr, !queue.empty());
      if (!found) continue;
      EXPECT_EQ(found->number, queue.front());
      queue.pop_front();
      --inside;
    }
    ASSERT_EQ(table.size(), inside);
  }
  std::size_t seen = 0;
  table.each([&](numbered&) { ++seen; });
  EXPECT_EQ(seen, inside);
}

}  // namespace
