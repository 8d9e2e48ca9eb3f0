// Puts into the memory of other ranks, and parts of messages.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/partitioned.hpp"
#include "plaq/comm/messages/window.hpp"
#include "plaq/task/parallel_for.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::in_small_pieces;
using test::message_of;
using test::world;

/// Value i that rank r puts to rank s in a round.
int value(int r, int s, int i, int round) { return ((round * 64 + r) * 64 + s) * 4096 + i; }

/// Every rank puts `n` values to each rank, many rounds one after the other, each of two halves of the window in turn.
void put_to_all(const communicator& over, int n) {
  const int p = over.size(), me = over.rank();
  std::vector<int> own(std::size_t(2 * p * n), -1);
  window<int> w(over, std::span(own));
  EXPECT_EQ(w.length(), own.size());
  auto mine = std::vector<std::vector<int>>(std::size_t(p));
  for (int round = 0; round < 6; ++round) {
    const int half = round % 2;
    std::vector<plaq::task::future<status>> sent;
    for (int s = 0; s < p; ++s) {
      auto& values = mine[std::size_t(s)];
      values.resize(std::size_t(n));
      for (int i = 0; i < n; ++i) values[std::size_t(i)] = value(me, s, i, round);
      sent.push_back(w.put(values, s, std::size_t((half * p + me) * n), 7 + half));
    }
    for (auto& put : sent) put.get();
    w.notified(7 + half, std::size_t(p)).get();
    for (int r = 0; r < p; ++r)
      for (int i = 0; i < n; ++i)
        ASSERT_EQ(own[std::size_t((half * p + r) * n + i)], value(r, me, i, round)) << "round " << round;
  }
  test::meet();  // nobody closes the window while another has not heard of the last put
}

TEST(window, gets_short_and_long_values) {
  for (const int n : {0, 1, 100, 4000}) put_to_all(world(), n);
}

TEST(window, gets_values_in_pieces) { put_to_all(in_small_pieces(), 2000); }

TEST(window, counts_notifications_for_one_request_after_the_other) {
  const int p = world().size(), me = world().rank();
  std::vector<int> own(std::size_t(p), 0);
  window<int> w(world(), std::span(own));
  auto first = w.notified(3, std::size_t(p)), second = w.notified(3, std::size_t(2 * p)), none = w.notified(3, 0);
  const std::vector<int> one{me + 1};
  for (int i = 0; i < 3; ++i)
    for (int s = 0; s < p; ++s) w.put(one, s, std::size_t(me), 3).get();
  first.get(), second.get(), none.get();
  for (int r = 0; r < p; ++r) EXPECT_EQ(own[std::size_t(r)], r + 1);
  test::meet();
}

TEST(window, is_written_by_tasks) {
  test::on_every_pool([](auto& pool) {
    const int p = world().size(), me = world().rank(), n = 24;
    std::vector<double> own(std::size_t(p * n));
    window<double> w(world(), std::span(own));
    plaq::task::parallel_for(pool, "put", 0, p * n, [&](int k) {
      const std::vector<double> x{double(me) + 0.01 * (k % n)};
      w.put(x, k / n, std::size_t(me * n + k % n)).get();
    });
    w.notified(0, std::size_t(p * n)).get();
    for (int k = 0; k < p * n; ++k) ASSERT_EQ(own[std::size_t(k)], double(k / n) + 0.01 * (k % n));
    test::meet();
  });
}

TEST(window, refuses_what_does_not_fit) {
  std::vector<int> own(10), four(4);
  window<int> w(world(), std::span(own));
  EXPECT_EQ(message_of<plaq::input_error>([&] { (void)w.put(four, 0, 7); }),
            "a put of 16 bytes at byte 28 of a window of 40");
  EXPECT_EQ(message_of<plaq::input_error>([&] { (void)w.put(four, 0, 0, -1); }), "the notification -1 is negative");
  EXPECT_THROW((void)w.put(four, w.size(), 0), plaq::input_error);
  EXPECT_THROW((void)w.notified(-2), plaq::input_error);
  auto never = w.notified(1);
  test::meet();
}

TEST(window, has_one_length_on_all_ranks) {
  const int p = world().size(), me = world().rank();
  if (p == 1) GTEST_SKIP() << "one rank has one length";
  std::vector<char> own(me == 1 ? 5 : 6);
  const auto why = message_of<plaq::input_error>([&] { window<char> w(world(), std::span(own)); });
  EXPECT_NE(why.find("not 5 bytes on one and 6 on another"), std::string::npos) << why;
}

TEST(window, fails_what_waits_at_its_end) {
  std::vector<int> own(1);
  auto w = std::make_unique<window<int>>(world(), std::span(own));
  auto never = w->notified(1);
  w.reset();
  EXPECT_NE(message_of<plaq::runtime_failure>([&] { never.get(); }).find("its window was closed"), std::string::npos);
}

TEST(partitioned_message, has_parts_of_any_order_for_many_rounds) {
  messenger m(world());
  const int p = m.size(), to = (m.rank() + 1) % p, from = (m.rank() + p - 1) % p;
  for (const std::size_t parts : {std::size_t(1), std::size_t(3), std::size_t(8)}) {
    std::vector<int> mine(20), theirs(20);
    partitioned_send sending(m, mine, parts, to, 40);
    partitioned_receive receiving(m, theirs, parts, from, 40);
    ASSERT_EQ(sending.parts(), parts);
    for (int round = 0; round < 5; ++round) {
      auto arrived = receiving.start();
      std::iota(mine.begin(), mine.end(), 1000 * m.rank() + 100 * round);
      std::vector<plaq::task::future<status>> sent;
      for (std::size_t i = 0; i < parts; ++i) {
        sent.push_back(sending.ready((5 * i + std::size_t(round)) % parts));
      }
      std::size_t bytes = 0;
      for (auto& part : arrived) bytes += part.get().bytes;
      for (auto& part : sent) part.get();
      EXPECT_EQ(bytes, theirs.size() * sizeof(int));
      for (int i = 0; i < 20; ++i) ASSERT_EQ(theirs[std::size_t(i)], 1000 * from + 100 * round + i);
    }
  }
}

TEST(partitioned_message, is_sent_by_the_tasks_that_make_it) {
  test::on_every_pool([](auto& pool) {
    messenger m(world());
    const int p = m.size(), to = (m.rank() + 1) % p, from = (m.rank() + p - 1) % p;
    std::vector<long> mine(1000), theirs(1000);
    partitioned_send sending(m, mine, 10, to);
    partitioned_receive receiving(m, theirs, 10, from);
    auto arrived = receiving.start();
    plaq::task::parallel_for(pool, "part", 0, 10, [&](int part) {
      for (std::size_t i = 100 * std::size_t(part); i < 100 * std::size_t(part + 1); ++i) mine[i] = m.rank() + long(i);
      sending.ready(std::size_t(part)).get();
    });
    for (auto& part : arrived) part.get();
    for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(theirs[i], from + long(i));
  });
}

TEST(partitioned_message, refuses_what_there_is_not) {
  messenger m(world());
  std::vector<int> mine(4);
  EXPECT_THROW(partitioned_send(m, mine, 0, 0), plaq::input_error);
  EXPECT_THROW(partitioned_send(m, mine, 2, 0, last_tag), plaq::input_error);
  partitioned_send two(m, mine, 2, 0);
  EXPECT_EQ(message_of<plaq::input_error>([&] { (void)two.ready(2); }), "part 2 of a message of 2 parts");
}

}  // namespace
