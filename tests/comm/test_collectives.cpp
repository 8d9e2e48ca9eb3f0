// Collectives on real ranks, any number of them; each rank compares with what it can compute alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/task.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::message_of;
using test::numbers;
using test::world;
namespace task = plaq::task;

/// The same stream of cases on every rank.
using engine_t = std::mt19937;

template <class T>
std::vector<T> values_of(int rank, std::size_t n, unsigned seed) {
  engine_t random(seed + 1000 * unsigned(rank));
  std::vector<T> x(n);
  for (auto& v : x) v = T(random() % 1000);
  return x;
}

/// Tuned, and every algorithm that there is; operations without it take the tuned one.
std::vector<collective_options> all_options(bool fixed_order) {
  std::vector<collective_options> all{{fixed_order, {}}};
  for (const auto how : {algorithm::tree, algorithm::chain, algorithm::butterfly, algorithm::halving, algorithm::ring,
                         algorithm::direct, algorithm::bruck, algorithm::doubling})
    for (const int arity : {2, 5}) all.push_back({fixed_order, method{how, arity, arity == 2 ? std::size_t(0) : 48}});
  return all;
}

template <class T>
void move_blocks(collectives& c, engine_t& random) {
  const int p = c.size(), me = c.rank(), root = int(random() % p);
  const std::size_t n = random() % 3 == 0 ? 0 : random() % 40;
  const unsigned seed = random();
  const auto block = [&](int r) { return values_of<T>(r, n, seed); };
  const auto blocks = [&](int r) { return values_of<T>(r, n * p, seed); };
  const auto part = [&](const std::vector<T>& v, int i) {
    return std::vector<T>(v.begin() + i * n, v.begin() + (i + 1) * n);
  };
  std::vector<T> everything;
  for (int r = 0; r < p; ++r)
    for (const auto& x : block(r)) everything.push_back(x);

  auto x = me == root ? block(root) : std::vector<T>(n);
  c.broadcast(x, root);
  EXPECT_EQ(x, block(root));
  std::vector<T> mine(n);
  c.scatter(me == root ? blocks(root) : std::vector<T>(), mine, root);
  EXPECT_EQ(mine, part(blocks(root), me));
  std::vector<T> all(me == root ? n * p : 0);
  c.gather(block(me), all, root);
  EXPECT_EQ(all, me == root ? everything : std::vector<T>());
  all.assign(n * p, T{});
  c.all_gather(block(me), all);
  EXPECT_EQ(all, everything);
  c.all_to_all(blocks(me), all);
  for (int r = 0; r < p; ++r) EXPECT_EQ(part(all, r), part(blocks(r), me));

  const auto any = [&](int r) { return values_of<T>(r, (n * unsigned(r + 3)) % 17, seed); };
  for (const bool everywhere : {false, true}) {
    const auto found = everywhere ? c.all_gather_any(any(me)) : c.gather_any(any(me), root);
    if (!everywhere && me != root) {
      EXPECT_TRUE(found.values.empty());
      continue;
    }
    for (int r = 0; r < p; ++r) EXPECT_TRUE(std::ranges::equal(found.from(r), any(r)));
  }
}

template <class T>
void reduce_values(collectives& c, engine_t& random) {
  const int p = c.size(), me = c.rank(), root = int(random() % p);
  const std::size_t n = random() % 3 == 0 ? 0 : random() % 40;
  const unsigned seed = random();
  const auto block = [&](int r) { return values_of<T>(r, n, seed); };
  const auto sum = [&](int end) {
    std::vector<T> total(n);
    for (int r = 0; r < end; ++r) std::ranges::transform(total, block(r), total.begin(), std::plus<T>());
    return total;
  };
  std::vector<T> result(me == root ? n : 0);
  c.reduce(block(me), result, operation::sum, root);
  EXPECT_EQ(result, me == root ? sum(p) : std::vector<T>());
  auto x = block(me);
  c.all_reduce(x, std::plus<T>());
  EXPECT_EQ(x, sum(p));
  x = block(me);
  c.inclusive_scan(x, operation::sum);
  EXPECT_EQ(x, sum(me + 1));
  x = block(me);
  c.exclusive_scan(x, operation::sum);
  EXPECT_EQ(x, sum(me));
  c.barrier();
}

TEST(collectives, agree_with_loops_by_every_algorithm) {
  engine_t random(1);
  for (const auto& options : all_options(false)) {
    collectives c(world(), options);
    SCOPED_TRACE(options.by ? name_of(options.by->how) : "tuned");
    move_blocks<std::int32_t>(c, random);
    move_blocks<std::complex<double>>(c, random);
    reduce_values<std::int64_t>(c, random);
    reduce_values<std::uint64_t>(c, random);
    reduce_values<float>(c, random);
    reduce_values<std::complex<double>>(c, random);
  }
}

TEST(collectives, sum_complex_numbers_but_do_not_order_them) {
  collectives c(world());
  const double p = c.size();
  std::array<std::complex<double>, 2> z{{{1., double(c.rank())}, {0., -1.}}};
  c.all_reduce(z, operation::sum);
  EXPECT_EQ(z[0], std::complex(p, p * (p - 1) / 2));
  EXPECT_EQ(z[1], std::complex(0., -p));
  EXPECT_THROW(c.all_reduce(z, operation::max), plaq::input_error);
}

double in_fixed_order(const std::vector<double>& x, std::size_t begin, std::size_t length) {
  if (begin >= x.size()) return 0;
  if (length == 1) return x[begin];
  const double left = in_fixed_order(x, begin, length / 2);
  return begin + length / 2 < x.size() ? left + in_fixed_order(x, begin + length / 2, length / 2) : left;
}

TEST(collectives, a_fixed_order_has_the_same_bits_by_every_algorithm) {
  const std::size_t n = 33;
  for (const auto& options : all_options(true)) {
    collectives c(world(), options);
    auto x = numbers(c.rank(), n);
    c.all_reduce(x, operation::sum);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> terms;
      for (int r = 0; r < c.size(); ++r) terms.push_back(numbers(r, n)[i]);
      ASSERT_EQ(x[i], in_fixed_order(terms, 0, 1024));
    }
  }
}

TEST(collectives, pieces_have_the_same_bits_for_any_number_of_ranks) {
  const std::size_t n = 5;
  const int pieces = 29;
  for (const auto& options : all_options(false)) {
    collectives c(world(), options);
    std::vector<double> mine, result(n);
    for (int i = pieces * c.rank() / c.size(); i < pieces * (c.rank() + 1) / c.size(); ++i)
      for (const double x : numbers(i, n)) mine.push_back(x);
    c.all_reduce_pieces(mine, result, operation::sum);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<double> terms;
      for (int piece = 0; piece < pieces; ++piece) terms.push_back(numbers(piece, n)[i]);
      ASSERT_EQ(result[i], in_fixed_order(terms, 0, 1024));
    }
  }
}

TEST(collectives, may_be_used_again_and_again) {
  collectives a(world()), b(world(), {true, {}});
  for (int i = 0; i < 500; ++i) {
    std::array<int, 1> x{a.rank() + i}, y{i};
    a.all_reduce(x, operation::max);
    b.broadcast(y, i % b.size());
    ASSERT_EQ(x[0], a.size() - 1 + i);
    ASSERT_EQ(y[0], i);
  }
}

template <class Body>
void on_every_backend(Body&& body) {
  for (const auto& backend : task::backends())
    task::with_backend(backend, {.workers = 2}, [&](auto& pool) { body(pool); });
}

TEST(collectives, as_futures_many_under_way_at_once) {
  const int p = world().size(), me = world().rank(), last = p - 1;
  const auto sum_of_ranks = std::int64_t(p) * (p - 1) / 2;
  const auto each = [&](const std::vector<int>& all, auto&& of) {
    for (int r = 0; r < p; ++r) EXPECT_EQ(all[std::size_t(r)], of(r));
  };
  on_every_backend([&](auto& pool) {
    for (const auto& options : {collective_options{}, {true, method{algorithm::tree, 2, 48}}}) {
      collectives c(world(), options);
      pool.async("collectives",
                 [&] {
                   const auto ranks = std::size_t(p);
                   std::vector<std::int64_t> sum(1000, me), total(me == last ? 7 : 0), before{me}, upto{me}, none;
                   std::vector<int> root(100, me), all(ranks, me), turned(ranks), gathered(ranks),
                       at_last(me == last ? p : 0);
                   std::vector<int> mine{10 * me}, to_each(ranks), part(1);
                   const std::vector<std::int64_t> seven(7, me);
                   std::iota(to_each.begin(), to_each.end(), 100);
                   std::vector<task::future<void>> f;
                   f.push_back(c.iall_reduce(sum, operation::sum));
                   f.push_back(c.ibroadcast(root, last));
                   f.push_back(c.ireduce(seven, total, std::plus<std::int64_t>(), last));
                   f.push_back(c.iall_to_all(all, turned));
                   f.push_back(c.iall_gather(mine, gathered));
                   f.push_back(c.igather(mine, at_last, last));
                   f.push_back(c.iscatter(to_each, part, last));
                   f.push_back(c.iinclusive_scan(upto, operation::sum));
                   f.push_back(c.iexclusive_scan(before, operation::sum, -1));
                   f.push_back(c.iall_reduce(none, operation::sum));
                   f.push_back(c.ibarrier());
                   std::int64_t most = me;  // a call that blocks goes between those under way
                   c.all_reduce(std::span(&most, 1), operation::max);
                   EXPECT_EQ(most, last);
                   if (me % 2) std::ranges::reverse(f);  // nobody has to wait in the order of the others
                   for (auto& one : f) one.get();
                   EXPECT_EQ(sum, std::vector<std::int64_t>(1000, sum_of_ranks));
                   EXPECT_EQ(root, std::vector<int>(100, last));
                   EXPECT_EQ(total, std::vector<std::int64_t>(me == last ? 7 : 0, sum_of_ranks));
                   each(turned, [](int r) { return r; });
                   each(gathered, [](int r) { return 10 * r; });
                   if (me == last) each(at_last, [](int r) { return 10 * r; });
                   EXPECT_EQ(part[0], 100 + me);
                   EXPECT_EQ(upto[0], std::int64_t(me) * (me + 1) / 2);
                   EXPECT_EQ(before[0], me == 0 ? -1 : std::int64_t(me) * (me - 1) / 2);
                 })
          .get();
    }
  });
}

TEST(collectives, futures_compose) {
  collectives c(world());
  const int p = c.size(), me = c.rank();
  on_every_backend([&](auto& pool) {
    // What one collective operation gives goes into the next, and two are waited for together.
    std::vector<double> x{1.0 * me}, y{2.0 * me}, z{me == 0 ? 5.0 : 0.0};
    auto sums = task::when_all(c.iall_reduce(x, operation::sum), c.iall_reduce(y, operation::sum));
    auto then = sums.then(pool, "difference", [&](auto both) {
      std::apply([](auto... one) { (one.get(), ...); }, both.get());
      return y[0] - x[0];
    });
    auto three = c.ibroadcast(z).then(pool, "add", [&](auto arrived) {
      arrived.get();
      return z[0] + 1;
    });
    EXPECT_EQ(then.get(), 0.5 * p * (p - 1));
    EXPECT_EQ(three.get(), 6);
  });
}

TEST(collectives, a_thread_outside_of_pools_moves_its_futures_itself) {
  collectives a(world()), b(world());
  std::vector<std::int64_t> x(200000, 1), y(200000, 2);
  auto fx = a.iall_reduce(x, operation::sum);
  auto fy = b.iall_reduce(y, operation::sum);
  fy.get();
  fx.get();
  EXPECT_EQ(x.back(), a.size());
  EXPECT_EQ(y.front(), 2 * a.size());
}

TEST(collectives, futures_of_many_generations) {
  collectives c(world());
  constexpr int n = 300;
  std::vector<int> x(n, c.rank());
  std::vector<task::future<void>> all;
  for (int i = 0; i < n; ++i) all.push_back(c.iall_reduce(std::span(&x[std::size_t(i)], 1), operation::max));
  for (auto& f : all) f.get();
  EXPECT_EQ(x, std::vector<int>(n, c.size() - 1));
}

TEST(collectives, what_is_under_way_at_its_end_fails) {
  std::vector<int> x(1), sum(1);
  task::future<void> never;
  {
    collectives c(world());
    // The root of a reduction only receives: a message that nobody takes would outlive the communicator.
    if (c.rank() == 0) never = c.ireduce(x, sum, operation::sum, 0);
  }
  if (world().rank() == 0 && world().size() > 1) {
    EXPECT_NE(message_of<plaq::runtime_failure>([&] { never.get(); }).find("reduce: its collectives were"),
              std::string::npos);
  }
}

std::string of_the_last_rank(const collectives& c, const std::string& call) {
  return call + " (receive from rank " + std::to_string(c.rank() == 0 ? c.size() - 1 : 0) + ")";
}

TEST(collectives, who_waits_too_long_is_told_for_whom) {
  if (world().size() == 1) return;
  // A tree: rank 0 waits for the last one, the others for rank 0.
  collectives c(world(), {false, method{algorithm::tree, world().size(), 0}});
  const bool late = c.rank() + 1 == c.size();
  std::vector<int> x(3, 1), y(3, 1);
  std::vector<task::future<void>> all;
  const auto begin = [&] {
    all.push_back(c.iall_reduce(x, operation::sum));
    all.push_back(c.iall_reduce(y, operation::sum));
  };
  if (!late) {
    begin();
    const auto last = of_the_last_rank(c, "all_reduce");
    const auto expected =
        "rank " + std::to_string(c.rank()) + ": after 0.01 s still in progress: " + last + ", " + last;
    std::string told;  // at first of other ranks too, which come
    for (int tries = 0; tries < 1000 && !told.starts_with(expected); ++tries)
      told = message_of<plaq::runtime_failure>([&] { c.wait_for(all, std::chrono::milliseconds(10)); });
    EXPECT_TRUE(told.starts_with(expected)) << told;
  }
  test::meet();  // all but one have waited
  if (late) begin();
  c.wait_for(all, std::chrono::seconds(60));
  EXPECT_EQ(c.in_progress(), "");
  EXPECT_EQ(x, std::vector<int>(3, c.size()));
  EXPECT_EQ(y, x);
}

TEST(collectives, a_call_that_blocks_is_under_way_too) {
  if (world().size() == 1) return;
  collectives c(world(), {false, method{algorithm::tree, world().size(), 0}});
  if (c.rank() + 1 < c.size()) {
    std::thread blocked([&] { c.barrier(); });
    while (c.in_progress() != of_the_last_rank(c, "barrier")) std::this_thread::yield();
    test::meet();
    blocked.join();
  } else {
    test::meet();  // until all others have seen that they wait
    c.barrier();
  }
  EXPECT_EQ(c.in_progress(), "");
}

TEST(collectives, a_slow_rank_holds_up_only_who_waits_for_it) {
  const int me = world().rank(), slow = world().size() - 1;
  const auto same_speed = world().split(me == slow, me);
  collectives everyone(world()), quick(same_speed);
  messenger messages(world());
  std::vector<int> x(3, 1), go(1);
  if (me != slow) {
    auto whole = everyone.iall_reduce(x, operation::sum);
    for (int i = 1; i <= 50; ++i) {
      std::vector<int> sum(40, i);
      quick.all_reduce(sum, operation::sum);
      ASSERT_EQ(sum, std::vector<int>(40, i * slow));
    }
    EXPECT_FALSE(whole.is_ready());
    quick.barrier();
    if (me == 0) messages.isend(go, slow).get();
    whole.get();
  } else {
    if (slow > 0) messages.irecv(go, 0).get();  // once all others have looked
    everyone.all_reduce(x, operation::sum);
  }
  EXPECT_EQ(x, std::vector<int>(3, slow + 1));
}

TEST(collectives, long_messages_travel_in_pieces) {
  const communicator narrow = plaq::comm::world({.longest_message = 1000});  // as 2 GiB are cut in earnest
  for (const auto how : {algorithm::tree, algorithm::direct}) {
    collectives c(narrow, {false, method{how, 2, 0}});
    std::vector<std::int64_t> x(4321, c.rank() + 1);
    c.all_reduce(x, operation::sum);
    EXPECT_EQ(x, std::vector<std::int64_t>(4321, std::int64_t(c.size()) * (c.size() + 1) / 2));
  }
}

// 5 GB of memory on two ranks: --gtest_also_run_disabled_tests
TEST(collectives, DISABLED_messages_above_2_gib) {
  collectives c(world());
  const std::size_t n = (std::size_t(5) << 30) / 2 / sizeof(std::int64_t);
  std::vector<std::int64_t> x(n, c.rank() == 0 ? 1 : 0);
  x.back() = c.rank() == 0 ? 7 : 0;
  c.broadcast(x);
  EXPECT_EQ(std::ranges::count(x, 1), std::ptrdiff_t(n - 1));
  EXPECT_EQ(x.back(), 7);
  c.iall_reduce(x, operation::sum).get();
  EXPECT_EQ(x.front(), c.size());
  EXPECT_EQ(x.back(), 7 * c.size());
}

TEST(collectives, refuse_what_cannot_be) {
  collectives c(world());
  std::vector<double> x(3), all(3 * c.size() + 1);
  EXPECT_THROW(c.broadcast(x, c.size()), plaq::input_error);
  EXPECT_THROW(c.all_gather(x, all), plaq::input_error);
  EXPECT_THROW(c.all_reduce_pieces(all, x, operation::sum), plaq::input_error);
  if (c.size() > 1) {
    EXPECT_THROW(c.all_to_all(all, all), plaq::input_error);
  }
  c.barrier();
}

}  // namespace
