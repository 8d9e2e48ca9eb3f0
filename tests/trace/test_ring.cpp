// The ring that a thread writes into, with the session's side of it called by hand.
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "plaq/trace/buffer.hpp"

namespace plaq::trace::detail {
namespace {

/// What lies in the ring, which it then has room for again.
std::vector<std::uint64_t> taken(ring& r) {
  std::vector<std::uint64_t> out;
  const auto end = r.written();
  for (const auto& piece : r.pieces(r.read(), end))
    for (std::size_t i = 0; i < piece.count; ++i) out.push_back(piece.first[i].subject);
  r.consume(end);
  return out;
}

TEST(Ring, GivesBackWhatWasWrittenInItsOrder) {
  std::mt19937 random(7);
  ring r(16, 3);
  EXPECT_EQ(r.number(), 3);
  std::uint64_t next = 0, expected = 0;
  for (int round = 0; round < 1000; ++round) {
    for (auto n = random() % 8; n > 0; --n) {
      if (random() % 2) {
        ASSERT_TRUE(r.write({0, next}, {0, next + 1}));  // also where the second lies at the beginning again
        next += 2;
      } else {
        ASSERT_TRUE(r.write({0, next}));
        next += 1;
      }
    }
    for (const auto one : taken(r)) ASSERT_EQ(one, expected++);
  }
  EXPECT_EQ(expected, next);
  EXPECT_GT(next, 16u * 100);
  EXPECT_EQ(r.lost(), 0u);
}

TEST(Ring, CountsWhatItHasNoRoomFor) {
  ring r(8, 0);
  for (std::uint64_t i = 0; i < 7; ++i) EXPECT_TRUE(r.write({0, i}));
  EXPECT_FALSE(r.write({0, 7}, {0, 8}));  // a whole one or none
  EXPECT_TRUE(r.write({0, 7}));
  EXPECT_FALSE(r.write({0, 8}));
  EXPECT_EQ(r.lost(), 2u);
  EXPECT_EQ(taken(r), (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_TRUE(r.write({0, 9}));
  r.forget();
  EXPECT_EQ(r.lost(), 0u);
  EXPECT_EQ(taken(r), std::vector<std::uint64_t>{});
}

TEST(Ring, RegionsHaveNumbersOfTheirThread) {
  ring one(8, 0), other(8, 1);
  const auto a = one.new_region(), b = one.new_region(), c = other.new_region();
  EXPECT_NE(a, 0u);
  EXPECT_EQ(b, a + 1);
  EXPECT_EQ(a >> 40, 1u);
  EXPECT_EQ(c >> 40, 2u);
}

TEST(Ring, ForgetsItsTaskWithTheSession) {
  ring r(8, 0);
  r.set_task(17);
  EXPECT_EQ(r.task(), 17u);
  ++session_number;
  EXPECT_EQ(r.task(), 0u);
}

TEST(Ring, NamesAreNumberedOnce) {
  ring r(8, 0);
  const std::size_t known = names_from(0).size();
  const char text[] = "a name that only this test has", again[] = "a name that only this test has";
  const auto number = r.number_of(text);
  EXPECT_EQ(number, known);
  EXPECT_EQ(r.number_of(text), number);
  EXPECT_EQ(r.number_of(again), number);
  EXPECT_EQ(number_of_name(text), number);
  EXPECT_EQ(names_from(known), std::vector<std::string>{text});
  EXPECT_EQ(names_from(known + 1), std::vector<std::string>{});
}

// The numbers say whether a record was seen before it was whole; so does ThreadSanitizer.
TEST(Ring, OneThreadWritesWhileAnotherReads) {
  constexpr std::uint64_t records = 20'000;
  ring r(64, 0);
  std::jthread writer([&] {
    for (std::uint64_t i = 0; i < records;)
      if (r.write({i, i}))
        ++i;
      else
        std::this_thread::yield();
  });
  std::uint64_t expected = 0;
  while (expected < records) {
    const auto end = r.written();
    for (const auto& piece : r.pieces(r.read(), end))
      for (std::size_t i = 0; i < piece.count; ++i, ++expected) {
        ASSERT_EQ(piece.first[i].subject, expected);
        ASSERT_EQ(piece.first[i].head, expected);
      }
    r.consume(end);
    if (end == expected) std::this_thread::yield();
  }
}

TEST(Clock, GoesForward) {
  clock_pair last = read_both_clocks();
  for (int i = 0; i < 1000; ++i) {
    const clock_pair now = read_both_clocks();
    ASSERT_GE(now.ticks, last.ticks);
    ASSERT_GE(now.ns, last.ns);
    last = now;
  }
  EXPECT_TRUE(clock_name() == "time-stamp counter" || clock_name() == "steady clock");
}

}  // namespace
}  // namespace plaq::trace::detail
