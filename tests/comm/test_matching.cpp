// Who gets which message, against one list that is gone through from its begin.
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/matching.hpp"

namespace {

using namespace plaq::comm;

constexpr int me = 0;

/// A message that knows its number.
class numbered final : public message {
 public:
  numbered(message_end call, int peer, int tag, int n) : message(call, peer, tag), n(n) {}
  void complete(const status&) noexcept override {}
  void fail(std::exception_ptr) noexcept override {}
  int n;
};
int number_of(const message& m) { return static_cast<const numbered&>(m).n; }

struct entry {
  int peer, tag, n;
};

TEST(matching, is_that_of_one_list) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return int(random() % unsigned(n)); };
  matching match(me, 4);
  std::vector<entry> receives, own, early;  // in the order in which they came
  const auto take = [](std::vector<entry>& list, auto fits) {
    const auto found = std::ranges::find_if(list, fits);
    std::optional<entry> e;
    if (found != list.end()) {
      e = *found;
      list.erase(found);
    }
    return e;
  };
  for (int n = 0; n < 20000; ++n) {
    const int tag = below(4), peer = below(3);
    if (below(2)) {  // a receive
      const int from = below(4) == 0 ? any_rank : peer;
      const auto fits = [&](const entry& e) { return e.tag == tag && (from == any_rank || e.peer == from); };
      if (const auto mine = match.from_self(from, tag)) {
        const auto expected = take(own, fits);
        ASSERT_TRUE(expected);
        ASSERT_EQ(number_of(*mine), expected->n);
      } else if (const auto other = match.from_others(from, tag)) {
        const auto expected = take(early, fits);
        ASSERT_TRUE(expected);
        ASSERT_EQ(int(other->bytes), expected->n);
        ASSERT_EQ(other->peer, expected->peer);
      } else {
        ASSERT_TRUE(std::ranges::none_of(own, fits) && std::ranges::none_of(early, fits));
        EXPECT_EQ(match.post(std::make_unique<numbered>(message_end::receive, from, tag, n)), from != me);
        receives.push_back({from, tag, n});
      }
    } else {  // a message
      const auto fits = [&](const entry& e) { return e.tag == tag && (e.peer == any_rank || e.peer == peer); };
      const auto expected = take(receives, fits);
      if (const auto to = match.receiver_of(peer, tag)) {
        ASSERT_TRUE(expected);
        ASSERT_EQ(number_of(*to), expected->n);
        ASSERT_EQ(to->peer, peer) << "a receive from any knows now whose it has";
      } else {
        ASSERT_FALSE(expected);
        if (peer == me)
          match.keep(std::make_unique<numbered>(message_end::send, me, tag, n));
        else
          match.keep(wire::arrival{peer, tag, std::size_t(n), 0});
        (peer == me ? own : early).push_back({peer, tag, n});
      }
    }
    ASSERT_EQ(match.awaits_others(), std::ranges::any_of(receives, [](const entry& e) { return e.peer != me; }));
  }
  EXPECT_EQ(match.unexpected(3).count, own.size() + early.size());
  std::size_t waiting = 0;
  match.give_up([&](std::unique_ptr<message>, bool) { ++waiting; });
  EXPECT_EQ(waiting, own.size() + receives.size());
  EXPECT_FALSE(match.awaits_others());
}

/// Keeps what it made.
struct ear final : listener {
  std::vector<int> heard;
  std::unique_ptr<message> next(int peer) override {
    heard.push_back(peer);
    return std::make_unique<numbered>(message_end::receive, peer, 5, 0);
  }
};

TEST(matching, who_listens_comes_after_the_receives) {
  matching match(me, 4);
  ear listens, other;
  match.listen(5, listens);
  EXPECT_THROW(match.listen(5, other), plaq::input_error);
  EXPECT_TRUE(match.awaits_others());
  match.post(std::make_unique<numbered>(message_end::receive, 2, 5, 17));
  EXPECT_EQ(number_of(*match.receiver_of(2, 5)), 17);
  EXPECT_TRUE(listens.heard.empty());
  (void)match.receiver_of(2, 5);
  (void)match.receiver_of(1, 5);
  EXPECT_EQ(listens.heard, (std::vector{2, 1}));
  EXPECT_EQ(match.receiver_of(1, 6), nullptr) << "another tag";
  EXPECT_TRUE(match.ignore(5));
  EXPECT_FALSE(match.ignore(5));
  EXPECT_EQ(match.receiver_of(2, 5), nullptr);
  EXPECT_FALSE(match.awaits_others());
}

TEST(matching, knows_what_nobody_has_asked_for) {
  matching match(me, 4);
  EXPECT_EQ(match.unexpected(last_tag).count, 0u);
  match.keep(wire::arrival{2, 9, 0, 0});
  match.keep(wire::arrival{1, 7, 0, 0});
  match.keep(wire::arrival{1, 100, 0, 0});
  const unexpected_messages some = match.unexpected(50);
  EXPECT_EQ(some.count, 2u);
  EXPECT_EQ(some.peer, 2);
  EXPECT_EQ(some.tag, 9);
  EXPECT_EQ(match.unexpected(100).count, 3u);
  EXPECT_EQ(match.unexpected(8).tag, 7);
}

TEST(matching, gives_up_whom_it_knows_and_one_for_each_who_listens) {
  matching match(me, 4);
  ear listens;
  match.listen(5, listens);
  match.post(std::make_unique<numbered>(message_end::receive, me, 1, 1));
  match.post(std::make_unique<numbered>(message_end::receive, 1, 1, 2));
  match.keep(std::make_unique<numbered>(message_end::send, me, 2, 3));
  std::vector<std::pair<int, bool>> found;
  match.give_up([&](std::unique_ptr<message> m, bool looked_for) { found.emplace_back(number_of(*m), looked_for); });
  std::ranges::sort(found);
  EXPECT_EQ(found, (std::vector<std::pair<int, bool>>{{0, true}, {1, false}, {2, true}, {3, false}}));
  EXPECT_EQ(listens.heard, std::vector{any_rank});
  match.give_up([](std::unique_ptr<message>, bool) { FAIL() << "nothing is left"; });
}

}  // namespace
