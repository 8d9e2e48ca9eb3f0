// Receives from whichever rank sends first, on any number of ranks.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/task.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::message_of;
using test::world;
namespace task = plaq::task;
using namespace std::chrono_literals;

/// What rank `from` sends as its message `i`, of any length.
std::vector<int> words(int from, int i) {
  std::vector<int> x(i % 5 == 4 ? 20000u : unsigned(i % 5));
  std::iota(x.begin(), x.end(), 1000 * from + i);
  return x;
}

// Every rank, this one too, sends to rank 0, which finds each sender's messages in their order.
TEST(any_rank, many_senders_each_in_its_order) {
  const int p = world().size(), me = world().rank();
  constexpr int n = 30;
  for (const auto& backend : task::backends())
    task::with_backend(backend, {.workers = 2}, [&](auto& pool) {
      for (const bool posted_first : {true, false}) {
        messenger m(world());
        std::vector<task::future<received_object<std::vector<int>>>> coming;
        const auto post = [&] {
          for (int i = 0; i < n * p && me == 0; ++i) coming.push_back(m.irecv_object_of_any<std::vector<int>>(3));
        };
        if (posted_first) post();
        std::vector<task::future<status>> going;
        for (int i = 0; i < n; ++i) going.push_back(m.isend_object(words(me, i), 0, 3));
        if (!posted_first) post();
        std::vector<int> next(std::size_t(p), 0);
        pool.async("receive",
                   [&] {
                     for (auto& f : coming) {
                       const auto got = f.get();
                       EXPECT_EQ(got.value, words(got.peer, next[std::size_t(got.peer)]++));
                     }
                   })
            .get();
        m.wait_for(going, 60s);
        if (me == 0) {
          EXPECT_EQ(next, std::vector<int>(std::size_t(p), n));
        }
        test::meet();
      }
    });
}

TEST(any_rank, the_oldest_receive_that_fits_gets_the_message) {
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  std::array<int, 5> in{}, out{1, 2, 3, 4, 5};
  const auto at = [](std::array<int, 5>& x, std::size_t i) { return std::span(x).subspan(i, 1); };
  std::vector<task::future<status>> all;
  all.push_back(m.irecv(at(in, 0), any_rank, 7));
  all.push_back(m.irecv(at(in, 1), from, 7));
  all.push_back(m.irecv(at(in, 2), any_rank, 8));  // another tag
  all.push_back(m.irecv(at(in, 3), from, 7));
  all.push_back(m.irecv(at(in, 4), any_rank, 7));
  test::meet();  // all are posted
  for (const std::size_t i : {0u, 1u, 2u, 3u}) all.push_back(m.isend(at(out, i), to, 7));
  all.push_back(m.isend(at(out, 4), to, 8));
  m.wait_for(all, 60s);
  EXPECT_EQ(in, (std::array{1, 2, 5, 3, 4}));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(all[i].get().peer, from);
}

TEST(any_rank, takes_the_oldest_of_what_has_come_and_leaves_the_rest) {
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  std::array<int, 3> in{}, out{1, 2, 3};
  std::vector<task::future<status>> going;
  for (auto& x : out) going.push_back(m.isend(std::span(&x, 1), to, 2));
  going.push_back(m.isend(std::span(out).first(1), to, 9));
  std::array<int, 1> last{};
  m.irecv(last, from, 9).get();  // those before are here, and nobody has asked for them
  EXPECT_EQ(m.irecv(std::span(&in[0], 1), any_rank, 2).get().peer, from);
  m.irecv(std::span(&in[1], 1), from, 2).get();
  m.irecv(std::span(&in[2], 1), any_rank, 2).get();
  EXPECT_EQ(in, out);
  m.wait_for(going, 60s);
}

TEST(any_rank, errors_name_who_sent) {
  task::future<status> never;
  std::vector<int> in(2), out(3);
  {
    messenger m(world());
    const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
    EXPECT_THROW((void)m.isend(out, any_rank), plaq::input_error);
    auto bad = m.irecv(in, any_rank, 4), good = m.irecv(in, any_rank, 4);
    auto first = m.isend(out, to, 4), second = m.isend(std::span(out).first(2), to, 4);
    const auto text = message_of<plaq::runtime_failure>([&] { bad.get(); });
    EXPECT_TRUE(text.starts_with("rank " + std::to_string(me) + ": receive from rank " + std::to_string(from) +
                                 " with tag 4: expected 8 bytes and got 12"))
        << text;
    EXPECT_EQ(good.get().bytes, 8u);
    first.get();
    second.get();
    never = m.irecv(in, any_rank, 5);
    EXPECT_EQ(m.in_progress(), "receive from any rank");
    auto other = m.irecv(in, from, 6);
    EXPECT_EQ(m.in_progress(), "receive from rank " + std::to_string(from) + " or any");
    m.isend(std::span(out).first(2), to, 6).get();
    other.get();
  }
  const auto text = message_of<plaq::runtime_failure>([&] { never.get(); });
  EXPECT_TRUE(text.starts_with("rank " + std::to_string(world().rank()) +
                               ": receive from any rank with tag 5: the messenger was destroyed"))
      << text;
  EXPECT_EQ(task::detail::expected, 0);
}

}  // namespace
