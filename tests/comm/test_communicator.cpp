// Runs on any number of ranks; each rank compares with what it can compute alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <complex>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/communicator.hpp"
#include "plaq/comm/launcher.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;

/// Random numbers of very different size, so that every order of summation rounds differently.
std::vector<double> numbers(int seed, std::size_t n) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (auto& v : x) v = normal(engine) * std::exp(4 * normal(engine));
  return x;
}

TEST(communicator, world_is_what_was_asked_for) {
  EXPECT_EQ(world().size(), expected_ranks().value_or(1));
  EXPECT_LT(world().rank(), world().size());
  EXPECT_EQ(thread_level().empty(), !find_launch());
}

TEST(communicator, is_move_only) {
  static_assert(!std::is_copy_constructible_v<communicator>);
  communicator a = world().split(0);
  communicator b = std::move(a);
  b.barrier();
  EXPECT_EQ(b.size(), world().size());
}

TEST(communicator, broadcasts_from_every_root) {
  for (const auto* c : {&world(), &in_small_pieces()})
    for (int root = 0; root < c->size(); ++root)
      for (std::size_t n : {0, 1, 12, 13, 1000}) {
        const auto expected = numbers(root, n);
        auto x = c->rank() == root ? expected : std::vector<double>(n);
        c->broadcast(x, root);
        EXPECT_EQ(x, expected);
      }
}

template <class T>
void reduces() {
  for (const auto* c : {&world(), &in_small_pieces()}) {
    const int n = 301, p = c->size();
    std::vector<T> sum(n), low(n), high(n);
    for (int i = 0; i < n; ++i) sum[i] = low[i] = high[i] = T((i + 7 * c->rank()) % 11);
    c->all_reduce(sum, operation::sum);
    c->all_reduce(low, operation::min);
    c->all_reduce(high, operation::max);
    for (int i = 0; i < n; ++i) {
      std::vector<T> all;
      for (int r = 0; r < p; ++r) all.push_back(T((i + 7 * r) % 11));
      EXPECT_EQ(sum[i], std::accumulate(all.begin(), all.end(), T(0)));
      EXPECT_EQ(low[i], std::ranges::min(all));
      EXPECT_EQ(high[i], std::ranges::max(all));
    }
  }
}
TEST(communicator, reduces_every_type) {
  reduces<std::int32_t>();
  reduces<std::int64_t>();
  reduces<std::uint64_t>();
  reduces<float>();
  reduces<double>();
}

TEST(communicator, sums_complex_numbers_but_does_not_order_them) {
  std::array<std::complex<double>, 2> z{{{1., double(world().rank())}, {0., -1.}}};
  const double p = world().size();
  world().all_reduce(z, operation::sum);
  EXPECT_EQ(z[0], std::complex(p, p * (p - 1) / 2));
  EXPECT_EQ(z[1], std::complex(0., -p));
  EXPECT_THROW(world().all_reduce(z, operation::max), plaq::input_error);
}

TEST(communicator, gathers_contributions_of_any_length) {
  for (const auto* c : {&world(), &in_small_pieces()}) {
    const auto of = [](int rank) { return numbers(rank, 17 * ((rank + 1) % 3)); };  // some are empty
    const auto all = c->all_gather(of(c->rank()));
    for (int r = 0; r < c->size(); ++r) EXPECT_TRUE(std::ranges::equal(all.from(r), of(r)));
    for (int root = 0; root < c->size(); ++root) {
      const auto here = c->gather(of(c->rank()), root);
      if (c->rank() == root) {
        EXPECT_EQ(here.values, all.values);
        EXPECT_EQ(here.offsets, all.offsets);
      } else {
        EXPECT_TRUE(here.values.empty());
        EXPECT_TRUE(here.offsets.empty());
      }
    }
  }
}

TEST(communicator, passes_messages_round_the_ring) {
  for (const auto* c : {&world(), &in_small_pieces()}) {
    const int p = c->size(), me = c->rank();
    if (p == 1) continue;
    for (std::size_t n : {0, 1, 1000}) {
      std::vector<double> x(n);
      if (me == 0) c->send(numbers(1, n), 1, last_tag);
      c->receive(x, (me + p - 1) % p, last_tag);
      if (me != 0) c->send(x, (me + 1) % p, last_tag);
      EXPECT_EQ(x, numbers(1, n));
    }
  }
}

TEST(communicator, splits_by_color_and_orders_by_key) {
  const int p = world().size(), me = world().rank();
  const communicator part = world().split(me % 2, -me);
  EXPECT_EQ(part.size(), me % 2 ? p / 2 : (p + 1) / 2);
  std::array<int, 1> mine{me};
  const auto members = part.all_gather(mine).values;
  EXPECT_TRUE(std::ranges::is_sorted(members, std::greater{}));
  for (int r : members) EXPECT_EQ(r % 2, me % 2);
  EXPECT_THROW(world().split(-1), plaq::input_error);
}

TEST(communicator, a_node_is_part_of_the_world) {
  const communicator node = world().split_by_node();
  EXPECT_GE(node.size(), 1);
  EXPECT_LE(node.size(), world().size());
}

TEST(ordered_sum, is_tested_with_numbers_whose_order_matters) {
  const auto forward = numbers(1, 50);
  const std::vector<double> backward(forward.rbegin(), forward.rend());
  EXPECT_NE(std::accumulate(forward.begin(), forward.end(), 0.),
            std::accumulate(backward.begin(), backward.end(), 0.));
}

// The oracle is one loop over all pieces.
template <class T>
void sums_in_order(const communicator& c, std::size_t n, int pieces, auto&& owner) {
  std::vector<std::vector<T>> values(pieces);
  std::vector<T> expected;
  for (int i = 0; i < pieces; ++i) {
    const auto x = numbers(i, n);
    values[i].assign(x.begin(), x.end());
    if (i == 0)
      expected = values[i];
    else
      for (std::size_t j = 0; j < n; ++j) expected[j] += values[i][j];
  }
  std::vector<piece<T>> mine;
  for (int i = pieces - 1; i >= 0; --i)  // they may come in any order
    if (owner(i) == c.rank()) mine.push_back({10 * i, values[i]});
  std::vector<T> sum(n);
  c.ordered_sum<T>(mine, sum);
  EXPECT_EQ(sum, expected);
}

TEST(ordered_sum, has_the_bits_of_one_loop_whoever_holds_the_pieces) {
  for (const auto* c : {&world(), &in_small_pieces()}) {
    const int p = c->size();
    for (int pieces : {1, 2, 8, 13})
      for (std::size_t n : {0, 1, 50}) {
        sums_in_order<double>(*c, n, pieces, [&](int i) { return i * p / pieces; });
        sums_in_order<double>(*c, n, pieces, [&](int i) { return i % p; });
        sums_in_order<float>(*c, n, pieces, [&](int i) { return (i * i + 1) % p; });
        sums_in_order<std::complex<double>>(*c, n, pieces, [&](int) { return p - 1; });
      }
  }
  // Several segments in flight, and a last one that is not full.
  const int p = world().size();
  sums_in_order<double>(world(), 300007, 6, [&](int i) { return i % p; });
  sums_in_order<float>(world(), 600001, 5, [&](int i) { return i * p / 5; });
}

TEST(ordered_sum, refuses_on_all_ranks_what_one_rank_has_wrong) {
  const int last = world().size() - 1;
  const bool odd_one = world().rank() == last;
  const std::vector<double> x(4, 1.), longer(5, 1.);
  std::vector<double> sum(4);
  const auto sum_of = [&](std::vector<piece<double>> mine) { world().ordered_sum<double>(mine, sum); };

  EXPECT_THROW(sum_of({}), plaq::input_error);
  auto text = message_of<plaq::input_error>([&] {
    if (odd_one)
      sum_of({{5, x}, {5, x}});
    else
      sum_of({});
  });
  EXPECT_NE(text.find("piece 5 is there twice"), std::string::npos) << text;
  text = message_of<plaq::input_error>([&] { sum_of({{world().rank(), odd_one ? longer : x}}); });
  EXPECT_NE(text.find("rank " + std::to_string(last) + " has 5 values"), std::string::npos) << text;
  sum_of({{world().rank(), x}});
  EXPECT_EQ(sum, std::vector<double>(4, world().size()));
}

TEST(errors, impossible_ranks_and_tags_are_refused_before_anything_is_sent) {
  std::vector<double> x(1);
  const int p = world().size(), me = world().rank();
  EXPECT_THROW(world().broadcast(x, p), plaq::input_error);
  EXPECT_THROW(world().gather(x, -1), plaq::input_error);
  EXPECT_THROW(world().send(x, p), plaq::input_error);
  EXPECT_THROW(world().receive(x, -1), plaq::input_error);
  EXPECT_THROW(world().send(x, me), plaq::input_error);
  if (p > 1) {
    EXPECT_THROW(world().send(x, (me + 1) % p, last_tag + 1), plaq::input_error);
    EXPECT_THROW(world().receive(x, (me + 1) % p, -1), plaq::input_error);
  }
  if (find_launch()) {
    EXPECT_THROW(communicator::world(0), plaq::input_error);
  }
}

TEST(errors, a_message_of_another_length_names_rank_call_and_peer) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  if (world().rank() == 0)
    for (std::size_t n : {3, 1}) world().send(std::vector<double>(n), 1);
  if (world().rank() == 1) {
    std::vector<double> x(2);
    for (int i = 0; i < 2; ++i) {
      const auto text = message_of<plaq::runtime_failure>([&] { world().receive(x, 0); });
      EXPECT_EQ(text.find("rank 1: MPI_Recv from rank 0"), 0u) << text;
    }
  }
  world().barrier();
}

}  // namespace
