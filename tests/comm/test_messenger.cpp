// Runs on any number of ranks, on every thread back end; each rank compares with what it can compute alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <thread>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/task.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::in_small_pieces;
using test::message_of;
using test::on_every_pool;
using test::world;
namespace task = plaq::task;
using namespace std::chrono_literals;

std::vector<double> numbers(int seed, std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> uniform;
  std::vector<double> x(n);
  for (auto& v : x) v = uniform(random);
  return x;
}

TEST(messenger, every_rank_to_every_rank_from_tasks) {
  const int p = world().size(), me = world().rank();
  on_every_pool([&](auto& pool) {
    for (const auto* c : {&world(), &in_small_pieces()}) {
      messenger m(*c);
      std::vector<task::future<void>> tasks;
      for (int peer = 0; peer < p; ++peer)
        for (std::size_t n : {0, 1, 13, 40000})  // empty, small, in pieces, too long to be sent at once
          tasks.push_back(pool.async("exchange", [&, peer, n] {
            const int tag = int(n % 997);
            std::vector<double> in(n);
            const auto out = numbers(p * me + peer, n);
            auto coming = m.irecv(in, peer, tag);
            auto going = m.isend(out, peer, tag);
            const status got = coming.get();
            EXPECT_EQ(got.peer, peer);
            EXPECT_EQ(got.tag, tag);
            EXPECT_EQ(got.bytes, 8 * n);
            EXPECT_EQ(in, numbers(p * peer + me, n));
            going.get();
          }));
      for (auto& t : tasks) t.get();
      test::meet();
    }
  });
}

TEST(messenger, a_thread_outside_of_pools_moves_its_messages_itself) {
  messenger m(world());
  const int p = m.size(), me = m.rank();
  std::vector<double> in(100000);
  auto coming = m.irecv(in, (me + p - 1) % p);
  const auto out = numbers(me, in.size());
  auto going = m.isend(out, (me + 1) % p);
  coming.get();
  going.get();
  EXPECT_EQ(in, numbers((me + p - 1) % p, in.size()));
}

TEST(messenger, two_threads_without_a_pool_move_each_others_messages) {
  messenger m(world());
  const int p = m.size(), me = m.rank();
  const auto exchange = [&](int shift, int tag) {
    const int to = (me + shift) % p, from = (me + p - shift) % p;
    for (int i = 0; i < 2000 / p; ++i) {
      std::array<int, 1> in{-1}, out{i};
      std::array all{m.irecv(in, from, tag), m.isend(out, to, tag)};
      m.wait_for(all, 30s);
      if (in[0] != i) return false;
    }
    return true;
  };
  for (int shift : {1 % p, 0}) {
    std::array<bool, 2> good{};
    {
      std::jthread one([&] { good[0] = exchange(shift, 1); }), other([&] { good[1] = exchange(shift, 2); });
    }
    EXPECT_TRUE(good[0] && good[1]);
  }
}

TEST(messenger, messages_of_one_tag_keep_their_order_and_tags_do_not) {
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  constexpr int n = 200;
  std::vector<int> out(2 * n), in(2 * n, -1);
  std::iota(out.begin(), out.end(), 1000 * me);
  std::vector<task::future<status>> all;
  for (int i = 0; i < n; ++i) all.push_back(m.isend(std::span(&out[i], 1), to, 5));
  for (int i = n; i < 2 * n; ++i) all.push_back(m.isend(std::span(&out[i], 1), to, 6));
  for (int i = n; i < 2 * n; ++i) all.push_back(m.irecv(std::span(&in[i], 1), from, 6));
  for (int i = 0; i < n; ++i) all.push_back(m.irecv(std::span(&in[i], 1), from, 5));
  m.wait_for(all, 60s);
  for (int i = 0; i < 2 * n; ++i) EXPECT_EQ(in[i], 1000 * from + i);
}

TEST(messenger, many_receives_may_wait) {
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  constexpr int n = 1000;
  std::vector<int> in(n), out(n);
  std::iota(out.begin(), out.end(), me);
  std::vector<task::future<status>> all;
  for (int i = 0; i < n; ++i) all.push_back(m.irecv(std::span(&in[i], 1), from, i));
  for (int i = n; i-- > 0;) all.push_back(m.isend(std::span(&out[i], 1), to, i));
  m.wait_for(all, 60s);
  for (int i = 0; i < n; ++i) EXPECT_EQ(in[i], from + i);
}

TEST(messenger, strided_messages) {
  for (const auto* c : {&world(), &in_small_pieces()}) {
    messenger m(*c);
    const int p = m.size(), me = m.rank();
    // Rows of one matrix become blocks of another, to the next rank and to oneself.
    for (int shift : {1 % p, 0}) {
      constexpr std::size_t rows = 30, columns = 20;
      const auto a = numbers(me, rows * columns);
      std::vector<double> b(rows * columns, -1), row(rows);
      const int to = (me + shift) % p, from = (me + p - shift) % p;
      auto block = m.irecv(strided<double>{b.data(), rows, 2, columns}, from, 1);
      auto column = m.irecv(row, from, 2);
      auto first = m.isend(std::span(a).first(2 * rows), to, 1);
      auto second = m.isend(strided<const double>{a.data() + 3, rows, 1, columns}, to, 2);
      for (auto* f : {&block, &column, &first, &second}) f->get();
      const auto there = numbers(from, rows * columns);
      for (std::size_t r = 0; r < rows; ++r) {
        EXPECT_EQ(row[r], there[columns * r + 3]);
        for (std::size_t k = 0; k < columns; ++k)
          EXPECT_EQ(b[columns * r + k], k < 2 ? there[2 * r + k] : -1.) << r << " " << k;
      }
    }
    EXPECT_THROW((void)m.isend(strided<double>{nullptr, 2, 3, 2}, 0), plaq::input_error);
  }
}

TEST(messenger, objects_of_any_length) {
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  using many = std::vector<std::pair<std::string, std::vector<float>>>;
  const auto of = [](int rank) {
    const std::vector<float> zeros(std::size_t(5000 * rank));
    return many{{"first of " + std::to_string(rank), {1.f, 2.f}}, {"", zeros}};
  };
  on_every_pool([&](auto& pool) {
    auto received = pool.async("receive", [&] { return m.irecv_object<many>(from, 3).get(); });
    m.isend_object(of(me), to, 3).get();
    EXPECT_EQ(received.get(), of(from));
  });
  auto wrong = m.irecv_object<many>(from);
  m.isend_object(7, to).get();
  EXPECT_THROW(wrong.get(), plaq::runtime_failure);
}

TEST(messenger, prepared_sends) {
  messenger m(world());
  const int p = m.size(), me = m.rank();
  for (int shift : {1 % p, 0}) {
    for (std::size_t n : {1, 40000}) {
      std::vector<int> out(n), in(n);
      auto prepared = m.prepare_send(out, (me + shift) % p);
      for (int round = 0; round < 5; ++round) {
        std::ranges::fill(out, 10 * me + round);
        auto coming = m.irecv(in, (me + p - shift) % p);
        auto going = prepared.start();
        coming.get();
        going.get();
        EXPECT_EQ(in.back(), 10 * ((me + p - shift) % p) + round);
      }
    }
  }
}

TEST(messenger, messages_go_on_while_another_thread_is_in_a_call_that_blocks) {
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  on_every_pool([&](auto& pool) {
    std::vector<double> in(40000);
    const auto out = numbers(me, in.size());
    auto exchange = pool.async("exchange", [&] {
      auto coming = m.irecv(in, from), going = m.isend(out, to);
      coming.get();
      going.get();
    });
    // The others come to the barrier only when rank 0's messages have moved.
    if (me != 0) exchange.get();
    test::meet();
    if (me == 0) exchange.get();
    EXPECT_EQ(in, numbers(from, in.size()));
  });
}

// 5 GB of memory on one rank, 8 GB on two: --gtest_also_run_disabled_tests
TEST(messenger, DISABLED_messages_above_2_gib) {
  messenger m(world());
  const int p = m.size(), me = m.rank();
  const std::size_t n = (std::size_t(5) << 30) / 2;
  std::vector<char> in(n, 0), out(n, char(me + 1));
  auto coming = m.irecv(in, (me + p - 1) % p);
  auto going = m.isend(out, (me + 1) % p);
  EXPECT_EQ(coming.get().bytes, n);
  going.get();
  EXPECT_EQ(std::size_t(std::ranges::count(in, char((me + p - 1) % p + 1))), n);
}

TEST(messenger, errors_name_rank_call_and_peer) {
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  std::vector<int> in(2), out(3);
  EXPECT_THROW((void)m.isend(out, p), plaq::input_error);
  EXPECT_THROW((void)m.irecv(in, -1), plaq::input_error);
  EXPECT_THROW((void)m.irecv(in, 0, last_tag + 1), plaq::input_error);
  // What does not fit harms nobody else.
  auto bad = m.irecv(in, from, 4);
  auto good = m.irecv(in, from, 4);
  auto sent = m.isend(out, to, 4), sent_too = m.isend(std::span(out).first(2), to, 4);
  const auto text = message_of<plaq::runtime_failure>([&] { bad.get(); });
  EXPECT_EQ(text.find("rank " + std::to_string(me) + ": receive from rank " + std::to_string(from) +
                      " with tag 4: expected 8 bytes and got 12"),
            0u)
      << text;
  EXPECT_EQ(good.get().bytes, 8u);
  sent.get();
  sent_too.get();
}

TEST(messenger, who_waits_too_long_is_told_for_whom) {
  messenger m(world());
  const int p = m.size(), me = m.rank();
  std::vector<int> in(1), out(1);
  std::vector<task::future<status>> all;
  for (int r = 0; r < p; ++r) all.push_back(m.irecv(std::span(in), r, 9));
  const auto text = message_of<plaq::runtime_failure>([&] { m.wait_for(all, 10ms); });
  std::string ranks;
  for (int r = 0; r < p; ++r) ranks += (r ? ", " : "") + std::to_string(r);
  EXPECT_EQ(text.find("rank " + std::to_string(me) + ": after 0.01 s still in progress: receive from rank" +
                      std::string(p > 1 ? "s " : " ") + ranks),
            0u)
      << text;
  test::meet();  // everybody has waited
  for (int r = 0; r < p; ++r) all.push_back(m.isend(out, r, 9));
  m.wait_for(all, 60s);
  EXPECT_EQ(m.in_progress(), "");
}

TEST(messenger, what_is_under_way_at_its_end_fails) {
  std::vector<int> in(1);
  task::future<status> never;
  {
    messenger m(world());
    never = m.irecv(in, (m.rank() + 1) % m.size());
  }
  EXPECT_NE(message_of<plaq::runtime_failure>([&] { never.get(); }).find("the messenger was destroyed"),
            std::string::npos);
}

TEST(messenger, two_messengers_do_not_meet) {
  messenger a(world()), b(world());
  const int p = a.size(), me = a.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  std::vector<int> in_a(1), in_b(1), one{1}, two{2};
  auto fa = a.irecv(in_a, from), fb = b.irecv(in_b, from);
  auto sb = b.isend(two, to), sa = a.isend(one, to);
  for (auto* f : {&fa, &fb, &sa, &sb}) f->get();
  EXPECT_EQ(in_a[0], 1);
  EXPECT_EQ(in_b[0], 2);
}

// Many tasks of two pools at once, in random order; what a task gets depends on sender and tag alone.
TEST(messenger, storm) {
  messenger m(world());
  const int p = m.size(), me = m.rank();
  constexpr int pairs = 20;
  on_every_pool([&](auto& pool) {
    std::vector<task::future<void>> tasks;
    std::mt19937 random(static_cast<unsigned>(me));
    std::vector<int> order(std::size_t(2 * p * pairs));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::shuffle(order, random);
    for (int i : order) {
      const int peer = i / 2 % p, tag = i / 2 / p;
      const std::size_t n = 20 * std::size_t(tag) * std::size_t(tag);
      if (i % 2)
        tasks.push_back(pool.async("send", [&m, peer, tag, n, me] {
          const auto out = numbers(me + tag, n);
          m.isend(out, peer, tag).get();
        }));
      else
        tasks.push_back(pool.async("receive", [&m, peer, tag, n] {
          std::vector<double> in(n);
          m.irecv(in, peer, tag).get();
          EXPECT_EQ(in, numbers(peer + tag, n));
        }));
    }
    for (auto& t : tasks) t.get();
    test::meet();
  });
}

}  // namespace
