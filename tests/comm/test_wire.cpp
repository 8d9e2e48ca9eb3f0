// What all wires share: blocks of bytes, who is waited for, and a job of one rank.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/wire/clock_offset.hpp"
#include "plaq/comm/wire/communicator.hpp"
#include "plaq/comm/wire/open_messages.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace {

using namespace plaq::comm;

/// The bytes of a message one by one, in their order.
std::vector<std::byte*> each_byte(const blocks& b) {
  std::vector<std::byte*> all;
  for (std::size_t i = 0; i < b.count; ++i)
    for (std::size_t k = 0; k < b.block; ++k) all.push_back(b.data + i * b.stride + k);
  return all;
}

TEST(blocks, are_copied_byte_by_byte_in_their_order) {
  std::mt19937 random(1);
  const auto below = [&](std::size_t n) { return random() % n; };
  std::vector<std::byte> from(4000), to(4000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i % 251);
  for (int round = 0; round < 2000; ++round) {
    // As many bytes on both sides, cut otherwise.
    const std::array<std::size_t, 6> blocks_of{1, 2, 3, 4, 6, 12};
    const std::size_t total = 12 * below(8);
    const auto cut = [&](std::vector<std::byte>& memory) {
      const std::size_t block = blocks_of[below(6)];
      return blocks{memory.data() + below(100), block, total / block, block + below(3) * below(5)};
    };
    const blocks a = cut(from), b = cut(to);
    ASSERT_EQ(a.bytes(), total);
    std::ranges::fill(to, std::byte{255});
    copy(a, b);
    const auto source = each_byte(a), target = each_byte(b);
    for (std::size_t i = 0; i < total; ++i) ASSERT_EQ(*target[i], *source[i]) << round << " " << i;
    const std::set<const std::byte*> written(target.begin(), target.end());
    for (const std::byte& x : to)
      if (!written.contains(&x)) {
        ASSERT_EQ(x, std::byte{255}) << "between the blocks";
      }
  }
}

TEST(blocks, that_lie_together_go_at_once) {
  std::vector<std::byte> memory(1000);
  const auto runs = [](const blocks& from, const blocks& to) {
    std::vector<std::size_t> found;
    each_run(from, to, [&](std::byte*, const std::byte*, std::size_t n) { found.push_back(n); });
    return found;
  };
  const blocks together{memory.data(), 4, 6, 4}, apart{memory.data() + 500, 8, 3, 10};
  EXPECT_TRUE(together.contiguous());
  EXPECT_FALSE(apart.contiguous());
  EXPECT_TRUE((blocks{memory.data(), 8, 1, 10}).contiguous()) << "one block lies together";
  EXPECT_EQ(runs(together, {memory.data() + 500, 24, 1, 24}), (std::vector<std::size_t>{24}));
  EXPECT_EQ(runs(together, apart), (std::vector<std::size_t>{8, 8, 8}));
  EXPECT_EQ(runs(apart, {memory.data(), 12, 2, 20}), (std::vector<std::size_t>{8, 4, 4, 8}));
  EXPECT_TRUE(runs({}, {}).empty());
}

TEST(open_messages, in_words) {
  const auto words = [](std::set<int> from, std::set<int> to) { return open_messages{from, to}.in_words(); };
  EXPECT_EQ(words({}, {}), "");
  EXPECT_EQ(words({3}, {}), "receive from rank 3");
  EXPECT_EQ(words({3, 0}, {1}), "receive from ranks 0, 3; send to rank 1");
  EXPECT_EQ(words({}, {2, 1, 7}), "send to ranks 1, 2, 7");
  EXPECT_EQ(words({any_rank}, {}), "receive from any rank");
  EXPECT_EQ(words({any_rank, 2, 5}, {}), "receive from ranks 2, 5 or any");
}

TEST(open_messages, that_are_late_name_rank_and_time) {
  try {
    throw_timeout(3, 0.25, "send to rank 1");
  } catch (const plaq::runtime_failure& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("rank 3: after 0.25 s still in progress: send to rank 1"))
        << e.what();
  }
}

TEST(serial_wire, is_alone_however_it_is_split) {
  const communicator alone(serial_wire());
  for (const communicator& part : {alone.split(7, -3), alone.split_by_node()}) {
    EXPECT_EQ(part.rank(), 0);
    EXPECT_EQ(part.size(), 1);
  }
  EXPECT_THROW((void)alone.split(-1), plaq::input_error);
}

TEST(serial_wire, has_nobody_to_talk_to) {
  const auto over = communicator(serial_wire()).open_wire();
  std::byte b{};
  const blocks one{&b, 1, 1, 1};
  EXPECT_THROW(over->send(one, 0, 0), plaq::runtime_failure);
  EXPECT_THROW(over->receive(one, 0, 0), plaq::runtime_failure);
  EXPECT_THROW(over->receive(wire::arrival{}, one), plaq::runtime_failure);
  EXPECT_THROW(over->prepare_send(one, 0, 0), plaq::runtime_failure);
  EXPECT_EQ(over->next_arrival(), std::nullopt);
  EXPECT_FALSE(over->on_device(one));
}

// Clocks.

/// Rank 0 of two; the other one's clock is `ahead` of this one's, and it answers at once or, every other time, late.
class clock_wire final : public wire {
 public:
  clock_wire(double ahead, std::string fails) : ahead_(ahead), fails_(std::move(fails)) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  std::unique_ptr<wire> duplicate() override { return std::make_unique<clock_wire>(ahead_, fails_); }
  std::unique_ptr<wire> split(int, int) override { return duplicate(); }
  std::unique_ptr<wire> split_by_node() override { return duplicate(); }
  handle send(const blocks& from, int, int) override {
    std::memcpy(said, from.data, sizeof said);
    return 1;
  }
  handle receive(const blocks& to, int, int) override {
    const auto now = [] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    const std::array<double, 2> answer{now() + ahead_, 0};
    if (++trips_ % 2)
      for (const double end = now() + 1e-3; now() < end;) continue;  // the way back takes long
    std::memcpy(to.data, answer.data(), sizeof answer);
    return 2;
  }
  void test(std::span<handle> in_progress, std::vector<end>& ends) override {
    for (std::size_t i = 0; i < in_progress.size(); ++i) ends.push_back({i, 16, fails_});
  }
  static inline double said[2] = {0, 0};  ///< what the other one is told at the end

  void cancel(handle) override {}
  std::optional<arrival> next_arrival() override { return std::nullopt; }
  handle receive(const arrival&, const blocks&) override { return nothing; }
  handle prepare_send(const blocks&, int, int) override { return nothing; }
  void start(handle, std::size_t) override {}
  void forget(handle) override {}

 private:
  double ahead_;
  std::string fails_;
  int trips_ = 0;
};

TEST(clock_offset, is_that_of_the_quickest_trip_and_known_to_its_error) {
  for (const double ahead : {0., 12.5, -3600.}) {
    const communicator two(std::make_unique<clock_wire>(ahead, ""));
    const clock_offset mine = measure_clock_offset(two, 6);
    EXPECT_EQ(mine.seconds, 0) << "this is rank 0";
    EXPECT_EQ(mine.error, 0);
    EXPECT_LE(std::abs(clock_wire::said[0] + ahead), clock_wire::said[1] + 1e-9);
    EXPECT_GT(clock_wire::said[1], 0);
  }
}

TEST(clock_offset, names_the_rank_whose_clock_it_cannot_ask) {
  const communicator two(std::make_unique<clock_wire>(0, "lost"));
  try {
    (void)measure_clock_offset(two, 2);
    ADD_FAILURE();
  } catch (const plaq::runtime_failure& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("rank 0: the clock of rank 1: lost")) << e.what();
  }
}

}  // namespace
