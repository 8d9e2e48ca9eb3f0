// Runs on any number of ranks, on every thread back end; each rank compares with what it can compute alone.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/active_messages.hpp"
#include "plaq/task/task.hpp"
#include "plaq/task/this_task.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::in_small_pieces;
using test::message_of;
using test::on_every_pool;
using test::world;
namespace task = plaq::task;

/// The same numbers on every rank.
long sum_over_ranks(long mine) {
  static collectives c(world());
  c.all_reduce(std::span(&mine, 1), operation::sum);
  return mine;
}

TEST(active_messages, those_of_one_sender_are_handled_in_their_order) {
  on_every_pool([&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank();
    constexpr int n = 60;
    std::vector<int> next(std::size_t(p), 0);  // of the senders, each of which is alone with its own
    std::vector<int> wrong(std::size_t(p), 0);
    a.on<std::pair<int, std::vector<int>>>("arrive", 3, [&](const std::pair<int, std::vector<int>>& what, int sender) {
      int& expected = next[std::size_t(sender)];
      const auto length = expected % 7 == 0 ? 20000u : unsigned(expected % 3);  // long ones are overtaken underneath
      if (what.first != expected || what.second != std::vector<int>(length, sender)) ++wrong[std::size_t(sender)];
      ++expected;
    });
    for (int i = 0; i < n; ++i)
      for (int peer = 0; peer < p; ++peer)
        a.send(std::pair(i, std::vector<int>(i % 7 == 0 ? 20000u : unsigned(i % 3), me)), peer, 3);
    a.wait();
    EXPECT_EQ(next, std::vector<int>(std::size_t(p), n));
    EXPECT_EQ(wrong, std::vector<int>(std::size_t(p), 0));
  });
}

TEST(active_messages, many_senders_empty_and_long_messages) {
  for (const auto* over : {&world(), &in_small_pieces()})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      active_messages a(*over, pool);
      std::atomic<long> values{0}, messages{0};
      a.on<std::vector<double>>("take", 0, [&](const std::vector<double>& x, int) {
        values += long(x.size());
        ++messages;
      });
      for (const std::size_t n : {0u, 1u, 13u, 40000u}) a.send(std::vector<double>(n, 1.5), 0, 0);
      a.wait();
      EXPECT_EQ(messages, a.rank() == 0 ? 4 * a.size() : 0);
      EXPECT_EQ(values, a.rank() == 0 ? 40014 * a.size() : 0);
    });
}

TEST(active_messages, handlers_send) {
  on_every_pool([&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank();
    std::atomic<long> handled{0};
    // Each message makes two of half the life, to other ranks.
    a.on<int>("split", 1, [&](int life, int sender) {
      ++handled;
      if (life > 1)
        for (const int shift : {1, 2}) a.send(life / 2, (me + sender + shift) % p, 1);
    });
    a.send(16, (me + 1) % p, 1);
    a.wait();
    EXPECT_EQ(sum_over_ranks(handled), 31 * p);
    a.send(4, me, 1);  // it goes on
    a.wait();
    EXPECT_EQ(sum_over_ranks(handled), 38 * p);
  });
}

TEST(active_messages, quiet_comes_after_slow_handlers) {
  task::with_backend("os", {.workers = 2}, [&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank();
    std::atomic<int> handled{0};
    a.on<int>("slow", 1, [&](int hops, int) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      if (hops > 0) a.send(hops - 1, (me + 1) % p, 1);
      ++handled;
    });
    if (me == 0) a.send(3 * p - 1, 0, 1);  // three times round
    a.wait();
    EXPECT_EQ(handled, 3);
    a.wait();  // where nothing was sent
  });
}

TEST(active_messages, a_handler_may_wait) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank();
    std::optional<task::promise<int>> answer(std::in_place);
    auto coming = answer->get_future();
    int got = -1;
    a.on<int>("ask", 1, [&](int, int sender) { a.send(10 * me, sender, 2); });
    a.on<int>("answer", 2, [&](int value, int) { answer->set_value(value); });
    a.on<int>("begin", 3, [&](int peer, int) {
      a.send(0, peer, 1);
      got = coming.get();  // other handlers run on this worker meanwhile
    });
    a.send((me + 1) % p, me, 3);
    a.wait();
    EXPECT_EQ(got, 10 * ((me + 1) % p));
  });
}

TEST(active_messages, wait_for_their_handler) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank();
    std::vector<int> sum(std::size_t(p), 0);
    a.on<int>("other", 8, [](int, int) {});
    for (int i = 1; i <= 10; ++i) {
      a.send(i, (me + 1) % p, 7);
      a.send(i, me, 7);
      a.send(i, (me + 1) % p, 8);  // so that those before are taken from MPI
    }
    test::meet();
    a.on<int>("late", 7, [&](int i, int sender) { sum[std::size_t(sender)] = 2 * sum[std::size_t(sender)] + i; });
    a.wait();
    int expected = 0;
    for (int i = 1; i <= 10; ++i) expected = 2 * expected + i;
    EXPECT_EQ(sum[std::size_t((me + p - 1) % p)] > 0, true);
    if (p > 1) {
      EXPECT_EQ(sum[std::size_t(me)], expected);
      EXPECT_EQ(sum[std::size_t((me + p - 1) % p)], expected);
    }
  });
}

TEST(active_messages, an_error_of_one_handler_is_that_of_all_ranks) {
  on_every_pool([&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank(), last = p - 1;
    std::atomic<int> after{0};
    a.on<int>("fail", 4, [&](int i, int) {
      if (i == 1) throw std::runtime_error("one");
      if (i > 1) ++after;
      if (i > 1000) a.send(i, (me + 1) % p, 4);
    });
    if (me == 0)
      for (int i = 0; i < 5; ++i) a.send(i, last, 4);
    for (int i = 0; i < 2; ++i) {  // and it stays
      const auto text = message_of<plaq::runtime_failure>([&] { a.wait(); });
      EXPECT_TRUE(text.starts_with("rank " + std::to_string(last) +
                                   ": fail, the handler of tag 4, for a message of rank 0: one"))
          << text;
    }
    EXPECT_EQ(after, 0);
  });
}

// A handler that waits for what another rank will never send keeps the error from nobody, and ends with it.
TEST(active_messages, an_error_reaches_ranks_whose_handlers_wait) {
  on_every_pool([&](auto& pool) {
    task::promise<void> never;
    auto coming = never.get_future();
    std::atomic<bool> begun{false}, came{true};
    {
      active_messages a(world(), pool);
      const int p = a.size(), me = a.rank();
      a.on<int>("wait", 1, [&](int, int) {
        begun = true;
        came = coming.wait(a.stopping());
      });
      a.on<int>("fail", 2, [&](int, int) { throw std::runtime_error("no answer"); });
      a.send(0, me, 1);
      while (!begun) task::this_task::yield();
      test::meet();
      if (me == 0) a.send(0, (me + 1) % p, 2);
      EXPECT_NE(message_of<plaq::runtime_failure>([&] { a.wait(); }).find("no answer"), std::string::npos);
      EXPECT_TRUE(a.stopping().stop_requested()) << "on all ranks";
    }
    EXPECT_FALSE(came);
  });
}

// What a handler waits for may come later than the end; nothing else ends it.
TEST(active_messages, their_end_ends_handlers_that_wait) {
  on_every_pool([&](auto& pool) {
    task::promise<void> never;
    auto coming = never.get_future();
    std::atomic<int> begun{0}, gave_up{0};
    {
      active_messages a(world(), pool);
      a.on<int>("wait", 1, [&](int, int) {
        ++begun;
        if (!coming.wait(a.stopping())) ++gave_up;
      });
      a.send(0, a.rank(), 1);
      a.send(1, a.rank(), 1);
      while (begun == 0) task::this_task::yield();
      EXPECT_FALSE(a.stopping().stop_requested());
      EXPECT_EQ(a.in_progress(), "wait, the handler of tag 1: 2 messages");
    }
    EXPECT_EQ(begun, 1) << "the second is lost";
    EXPECT_EQ(gave_up, 1);
  });
}

TEST(active_messages, that_no_handler_takes_are_an_error_of_all_ranks) {
  on_every_pool([&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank(), last = p - 1;
    std::atomic<int> hops{0};
    a.on<int>("pass on", 2, [&](int left, int) {  // what else goes on comes to its end before
      ++hops;
      if (left > 0) a.send(left - 1, (me + 1) % p, 2);
    });
    if (me == 0) {
      a.send(0, last, 7);
      a.send(3 * p - 1, 0, 2);
    }
    const auto text = message_of<plaq::runtime_failure>([&] { a.wait(); });
    EXPECT_TRUE(text.starts_with("rank " + std::to_string(last) +
                                 ": 1 message without a handler, the first with tag 7 of rank 0"))
        << text;
    EXPECT_EQ(hops, 3);
    if (me == last && p > 1) {
      EXPECT_EQ(a.in_progress(), "1 message without a handler, the first with tag 7 of rank 0");
    }
    a.on<int>("too late", 7, [&](int, int) { ++hops; });
    EXPECT_EQ(message_of<plaq::runtime_failure>([&] { a.wait(); }), text) << "and it stays";
    EXPECT_EQ(hops, 3);
  });
}

// A handler may make the handler of messages that have come already.
TEST(active_messages, a_handler_may_come_late_if_another_makes_it) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    active_messages a(world(), pool);
    const int p = a.size(), me = a.rank();
    std::atomic<int> got{0};
    a.on<int>("open", 1, [&](int, int) {
      for (int i = 0; i < 50; ++i) task::this_task::yield();
      a.on<int>("late", 7, [&](int i, int) { got += i; });
    });
    a.send(5, (me + 1) % p, 7);
    a.send(0, me, 1);
    a.wait();
    EXPECT_EQ(got, 5);
  });
}

TEST(active_messages, packed_as_another_type_are_an_error) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    active_messages a(world(), pool);
    a.on<std::string>("text", 1, [](const std::string&, int) {});
    if (a.rank() == 0) a.send(7, a.size() - 1, 1);
    EXPECT_NE(message_of<plaq::runtime_failure>([&] { a.wait(); }).find("packed as another type"), std::string::npos);
  });
}

TEST(active_messages, refuse_what_cannot_be) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    active_messages a(world(), pool);
    a.on<int>("once", 1, [](int, int) {});
    EXPECT_THROW(a.on<int>("twice", 1, [](int, int) {}), plaq::input_error);
    EXPECT_THROW(a.on<int>("nowhere", -1, [](int, int) {}), plaq::input_error);
    EXPECT_THROW(a.send(1, 0, active_messages::last_tag + 1), plaq::input_error);
    EXPECT_THROW(a.send(1, a.size(), 1), plaq::input_error);
    EXPECT_THROW(a.send(1, any_rank, 1), plaq::input_error);
    a.wait();  // nothing of that counts as sent
  });
}

TEST(active_messages, end_while_handlers_are_registered_run_and_wait_for_messages) {
  on_every_pool([&](auto& pool) {
    std::atomic<int> begun{0}, ended{0};
    {
      active_messages a(world(), pool);
      const int me = a.rank();
      a.on<int>("long", 1, [&](int, int) {
        ++begun;
        for (int i = 0; i < 100; ++i) task::this_task::yield();
        ++ended;
      });
      for (int i = 0; i < 20; ++i) a.send(i, me, 1);
      a.send(0, me, 2);  // which nobody handles
    }
    EXPECT_EQ(begun, ended);
  });
  EXPECT_EQ(task::detail::expected, 0);
}

}  // namespace
