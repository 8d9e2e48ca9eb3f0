// Every balancer comes to an end, with a plan that is as good as ever, whatever numbers the loads are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/random.hpp"
#include "plaq/collection/balance/balancers.hpp"
#include "plaq/collection/hilbert.hpp"

namespace plaq::balance {
namespace {

double drawn(unsigned seed, std::uint64_t index) {
  return unit_interval(random_words({.seed = seed, .purpose = 12}, index)[0]);
}

using numbers = std::vector<double>;

/// Loads of n elements that are hard to cut, each kind by its name.
std::vector<std::pair<std::string, numbers>> hard_loads(std::size_t n, unsigned seed) {
  std::vector<std::pair<std::string, numbers>> out;
  const auto add = [&](const char* name, auto&& load) {
    numbers loads(n);
    for (std::size_t i = 0; i < n; ++i) loads[i] = load(i, drawn(seed, i));
    out.emplace_back(name, std::move(loads));
  };
  const double least = std::numeric_limits<double>::denorm_min(), huge = 1e299 / double(n);
  add("one decimal", [](auto, double u) { return std::round(10 * u) / 10; });
  add("three decimals", [](auto, double u) { return std::round(1000 * u) / 1000; });
  add("microseconds", [](auto, double u) { return 1e-6 * std::floor(1e4 * u); });
  add("equal tenths", [](auto, double) { return 0.1; });
  add("zeros", [](auto, double) { return 0.0; });
  add("mostly zeros", [](auto i, double u) { return i % 7 == 3 ? u : 0; });
  add("one has all", [](auto i, double) { return i == 2 ? 1e6 : 0; });
  add("denormals", [=](auto, double u) { return least * std::floor(4 * u); });
  add("denormals beside one", [=](auto i, double u) { return i == 1 ? 1 : least * std::floor(4 * u); });
  add("huge", [=](auto, double u) { return huge * u; });
  add("huge and tiny", [=](auto i, double u) { return i % 3 ? least : huge * u; });
  add("any exponent", [](auto, double u) { return std::exp(600 * (2 * u - 1)); });
  return out;
}

load_distribution of_loads(numbers loads, int ranks, int spread) {
  load_distribution s{.ranks = ranks, .loads = std::move(loads), .rank_of = {}};
  s.ranks_per_node = 4;
  const auto side = int(std::ceil(std::sqrt(double(s.size()))));
  for (std::size_t i = 0; i < s.size(); ++i) {
    const int x = int(i) % side, y = int(i) / side;
    s.rank_of.push_back(spread == 0 ? 0 : int(i * std::uint64_t(ranks) / s.size()));
    s.positions.push_back(elements::hilbert_position<2>({x, y}, {side, side}));
    s.points.push_back({double(x), double(y), 0});
    s.sizes.push_back(8);
    if (spread == 2 && x > 0) s.edges.push_back({i, i - 1, 1});
    if (spread == 2 && y > 0) s.edges.push_back({i, i - std::size_t(side), 1});
  }
  return s;
}

void expect_sound(const balancer& by, const load_distribution& s, const std::string& what) {
  const plan to = by.call(s);
  ASSERT_EQ(to.size(), s.size()) << what;
  for (const int r : to) ASSERT_TRUE(r >= 0 && r < s.ranks) << what;
  EXPECT_LE(evaluate(s, to).highest, evaluate(s, s.rank_of).highest) << what;
}

TEST(balancers_end, whatever_the_loads_are) {
  for (const balancer& by : balancers())
    for (const std::size_t n : {1u, 5u, 60u})
      for (const int ranks : {1, 2, 3, 8, 64})
        for (const int spread : {0, 1, 2})
          for (auto& [kind, loads] : hard_loads(n, unsigned(ranks)))
            expect_sound(
                by, of_loads(loads, ranks, spread),
                std::string(by.name) + ", " + kind + ", " + std::to_string(n) + " on " + std::to_string(ranks));
}

TEST(balancers_end, with_a_million_elements) {
  numbers loads(1'000'000);
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i] = double(i * 7919 % 1000) / 1000;
  const load_distribution s = of_loads(std::move(loads), 1000, 1);
  for (const balancer& by : balancers()) expect_sound(by, s, std::string(by.name));
}

TEST(balancers_end, where_most_elements_have_no_load_and_one_has_nearly_all) {
  numbers loads(200'000, 0);
  loads[7] = 1e7;
  for (std::size_t i = 1; i < loads.size(); i += 2) loads[i] = 1;
  const load_distribution s = of_loads(loads, 4, 1);
  for (const balancer& by : balancers()) expect_sound(by, s, std::string(by.name));
}

/// The least that the largest of so many parts of a line can be, with sums from the left.
double least_bottleneck(const numbers& loads, int parts) {
  numbers least(loads.size() + 1, std::numeric_limits<double>::infinity());
  least[0] = 0;
  for (int p = 0; p < parts; ++p) {
    numbers next = least;
    for (std::size_t begin = 0; begin < loads.size(); ++begin) {
      double part = 0;
      for (std::size_t end = begin; end < loads.size(); ++end) {
        part += loads[end];
        next[end + 1] = std::min(next[end + 1], std::max(least[begin], part));
      }
    }
    least = next;
  }
  return least.back();
}

double largest_part(const numbers& loads, const std::vector<int>& of, int parts) {
  numbers sums(std::size_t(parts), 0);
  for (std::size_t i = 0; i < loads.size(); ++i) sums[std::size_t(of[i])] += loads[i];
  return *std::ranges::max_element(sums);
}

TEST(balancers_end, cut_where_no_number_lies_between_what_suffices_and_what_does_not) {
  const numbers loads{.06, .51, .26, .45, .12};
  EXPECT_EQ(detail::cut(loads, 2), (std::vector<int>{0, 0, 1, 1, 1}));
}

// To the last bit the best, for every kind of numbers.
TEST(balancers_end, cut_finds_the_best) {
  for (unsigned seed = 0; seed < 400; ++seed)
    for (auto& [kind, loads] : hard_loads(12, seed))
      for (const int parts : {2, 4, 8}) {
        const auto of = detail::cut(loads, parts);
        EXPECT_TRUE(std::ranges::is_sorted(of));
        ASSERT_EQ(largest_part(loads, of, parts), least_bottleneck(loads, parts))
            << kind << ", seed " << seed << ", " << parts << " parts";
      }
}

TEST(balancers_end, numbers_that_cannot_be_are_refused) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const auto message = [](load_distribution s) -> std::string {
    try {
      validate(s);
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  const load_distribution sound{.ranks = 2, .loads = {1, 2}, .rank_of = {0, 1}};
  const auto changed = [&](auto change) {
    load_distribution s = sound;
    change(s);
    return message(s);
  };
  EXPECT_EQ(message(sound), "");
  EXPECT_EQ(changed([&](auto& s) { s.loads[1] = nan; }), "balance: a load is nan; it must be 0 or more");
  EXPECT_EQ(changed([&](auto& s) { s.loads = {6e299, 6e299}; }),
            "balance: all loads are 1.2e+300, which is 1e+300 or more");
  EXPECT_EQ(changed([&](auto& s) { s.loads[0] = inf; }), "balance: a load is inf; it must be 0 or more");
  EXPECT_EQ(changed([&](auto& s) { s.sizes = {inf, 1}; }), "balance: a size in bytes is inf; it must be 0 or more");
  EXPECT_EQ(changed([&](auto& s) { s.edges = {{0, 1, inf}}; }),
            "balance: all weights of edges are inf, which is too large");
  EXPECT_EQ(changed([&](auto& s) { s.points = {{0, nan, 0}, {}}; }),
            "balance: a point has a coordinate that is not finite");
}

}  // namespace
}  // namespace plaq::balance
