// Linear combinations and scalar products of spinors, in every precision and with all lanes.
#include <gtest/gtest.h>

#include "fields_of_tests.hpp"
#include "plaq/lqcd/lattice/flavours.hpp"
#include "plaq/lqcd/lattice/linear.hpp"
#include "plaq/lqcd/lattice/linear_kernel.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 4, 8, 4};

template <class T>
class combinations : public testing::Test {
 public:
  rank_context ranks{single_rank()};
  static constexpr double tolerance = sizeof(T) == 8 ? 1e-14 : 1e-5;

  /// Expects out = sum of factor[chirality][term] x[term] on all sites.
  void expect_sum(const spinors<T>& out, const std::vector<spinors<T>>& x,
                  const std::vector<std::array<std::complex<T>, 2>>& factors) {
    double worst = 0;
    for_each_site(out.layout(), [&](const coordinates& site, site_layout::location p) {
      for (int i = 0; out.has(parity(site)) && i < 12; ++i) {
        std::complex<double> sum = 0;
        for (std::size_t t = 0; t < x.size(); ++t)
          sum += std::complex<double>(factors[t][i >= 6]) * std::complex<double>(x[t].get(p, i));
        worst = std::fmax(worst, std::abs(sum - std::complex<double>(out.get(p, i))));
      }
    });
    EXPECT_LT(worst, 20 * tolerance);
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(combinations, precisions);

TYPED_TEST(combinations, are_sums_of_one_two_and_three_terms_with_all_lanes) {
  using T = TypeParam;
  for (const int lanes : lane_counts<T>())
    for (const auto subset : {sites::all, sites::even, sites::odd}) {
      const auto layout = layout_of(extents, lanes);
      std::vector<spinors<T>> x;
      for (std::uint32_t i = 0; i < 3; ++i) x.push_back(random_spinors_on<T>(layout, i, subset));
      spinors<T> out(layout, subset);
      const std::complex<T> a(2, -1), b(T(0.5)), c(0, 3);
      combine<T>(this->ranks.ctx, out, {{a, x[0]}});
      this->expect_sum(out, {x[0]}, {{a, a}});
      combine<T>(this->ranks.ctx, out, {{a, x[0]}, {b, x[1]}});
      this->expect_sum(out, {x[0], x[1]}, {{a, a}, {b, b}});
      combine<T>(this->ranks.ctx, out, {{a, x[0]}, {b, x[1]}, {c, x[2]}});
      this->expect_sum(out, x, {{a, a}, {b, b}, {c, c}});
    }
}

TYPED_TEST(combinations, take_gamma5_and_chiral_factors) {
  using T = TypeParam;
  const auto layout = layout_of(extents, max_lanes<T>());
  const auto x = random_spinors_on<T>(layout, 1), y = random_spinors_on<T>(layout, 2);
  spinors<T> out(layout);
  const std::complex<T> z(T(0.25), 2);
  combine<T>(this->ranks.ctx, out, {linear_term<T>::gamma5(x), linear_term<T>::chiral(z, y)});
  this->expect_sum(out, {x, y}, {{1, -1}, {z, std::conj(z)}});
}

TYPED_TEST(combinations, may_overwrite_one_of_their_terms) {
  using T = TypeParam;
  const auto layout = layout_of(extents, max_lanes<T>());
  const auto x = random_spinors_on<T>(layout, 1), y = random_spinors_on<T>(layout, 2);
  spinors<T> out(layout), in_place(y);
  combine<T>(this->ranks.ctx, out, {{2, x}, {std::complex<T>(0, 1), y}});
  combine<T>(this->ranks.ctx, in_place, {{2, x}, {std::complex<T>(0, 1), in_place}});
  EXPECT_TRUE(same_bits(out, in_place));
}

TYPED_TEST(combinations, return_their_square_as_norm2_does) {
  using T = TypeParam;
  for (const int lanes : lane_counts<T>()) {
    const auto layout = layout_of(extents, lanes);
    const auto x = random_spinors_on<T>(layout, 1), y = random_spinors_on<T>(layout, 2);
    spinors<T> out(layout), again(layout);
    const double square = combine_norm2<T>(this->ranks.ctx, out, {{1, x}, {-3, y}});
    combine<T>(this->ranks.ctx, again, {{1, x}, {-3, y}});
    EXPECT_TRUE(same_bits(out, again));
    EXPECT_EQ(square, norm2(this->ranks.ctx, out)) << lanes;
  }
}

TYPED_TEST(combinations, have_scalar_products_with_the_first_field_conjugated) {
  using T = TypeParam;
  for (const int lanes : lane_counts<T>()) {
    const auto layout = layout_of(extents, lanes);
    const auto x = random_spinors_on<T>(layout, 1), y = random_spinors_on<T>(layout, 2);
    const auto a = reference::whole(x), b = reference::whole(y);
    reference::number expected = 0;
    double square = 0;
    for (std::size_t i = 0; i < a.size(); ++i) expected += std::conj(a[i]) * b[i], square += std::norm(a[i]);
    EXPECT_LT(std::abs(dot(this->ranks.ctx, x, y) - expected), this->tolerance * square) << lanes;
    EXPECT_NEAR(norm2(this->ranks.ctx, x), square, this->tolerance * square) << lanes;
    EXPECT_EQ(dot(this->ranks.ctx, x, x).real(), norm2(this->ranks.ctx, x));
  }
}

TYPED_TEST(combinations, have_sums_whose_bits_do_not_depend_on_lanes_and_workers) {
  using T = TypeParam;
  const auto sums = [](rank_context& ranks, int lanes) {
    const auto layout = layout_of(extents, lanes);
    const auto x = random_spinors_on<T>(layout, 1), y = random_spinors_on<T>(layout, 2);
    return std::pair(norm2(ranks.ctx, x), dot(ranks.ctx, x, y));
  };
  const auto expected = sums(this->ranks, 1);
  rank_context two_workers(single_rank(), "fiber", 2);
  for (const int lanes : lane_counts<T>()) {
    EXPECT_EQ(sums(this->ranks, lanes), expected) << lanes;
    EXPECT_EQ(sums(two_workers, lanes), expected) << lanes;
  }
}

TYPED_TEST(combinations, of_fields_on_different_sites_are_refused) {
  using T = TypeParam;
  const auto layout = layout_of(extents, 1);
  spinors<T> all(layout), odd(layout, sites::odd), other(layout_of(extents, 2));
  EXPECT_ANY_THROW(combine<T>(this->ranks.ctx, all, {{1, odd}}));
  EXPECT_ANY_THROW(combine<T>(this->ranks.ctx, all, {{1, all}, {1, other}}));
  EXPECT_ANY_THROW(dot(this->ranks.ctx, all, odd));
  EXPECT_ANY_THROW(dot(this->ranks.ctx, all, other));
}

TYPED_TEST(combinations, have_one_to_three_terms) {
  using T = TypeParam;
  spinors<T> x(layout_of(extents, 1));
  EXPECT_ANY_THROW(combine<T>(this->ranks.ctx, x, {}));
  EXPECT_ANY_THROW(combine<T>(this->ranks.ctx, x, {{1, x}, {1, x}, {1, x}, {1, x}}));
}

TYPED_TEST(combinations, with_more_lanes_than_the_kernels_have_are_refused) {
  using T = TypeParam;
  if (max_lanes<T>() == 16) return;
  spinors<T> x(layout_of({8, 8, 8, 8}, 2 * max_lanes<T>()));
  EXPECT_ANY_THROW(combine<T>(this->ranks.ctx, x, {{1, x}}));
}

TYPED_TEST(combinations, of_a_step_are_made_in_one_pass) {
  using T = TypeParam;
  for (const int lanes : lane_counts<T>()) {
    const auto layout = layout_of(extents, lanes);
    auto sum = random_spinors_on<T>(layout, 0, sites::odd), p = random_spinors_on<T>(layout, 1, sites::odd);
    const auto r = random_spinors_on<T>(layout, 2, sites::odd);
    auto expected_sum = sum, expected_p = p;
    combine<T>(this->ranks.ctx, expected_sum, {{1, sum}, {T(0.3), p}});
    combine<T>(this->ranks.ctx, expected_p, {{1, r}, {T(-1.7), p}});
    advance<T>(this->ranks.ctx, sum, p, r, T(0.3), T(-1.7));
    EXPECT_TRUE(same_bits(sum, expected_sum) && same_bits(p, expected_p)) << lanes;
  }
}

TYPED_TEST(combinations, of_several_steps_have_the_bits_of_one_after_the_other) {
  using T = TypeParam;
  rank_context two_workers(single_rank(), "fiber", 2);
  for (const int lanes : lane_counts<T>()) {
    const auto layout = layout_of(extents, lanes);
    std::vector<spinors<T>> sums, directions, r, expected_sums, expected_directions;
    for (std::uint32_t k = 0; k < 7; ++k) r.push_back(random_spinors_on<T>(layout, k, sites::odd));
    std::vector<advancing_sum<T>> all(8);
    for (std::uint32_t i = 0; i < 8; ++i) {
      sums.push_back(random_spinors_on<T>(layout, 10 + i, sites::odd));
      directions.push_back(random_spinors_on<T>(layout, 20 + i, sites::odd));
    }
    expected_sums = sums, expected_directions = directions;
    for (std::uint32_t i = 0; i < 8; ++i) {
      all[i] = {&sums[i], &directions[i], {}};
      for (std::uint32_t k = 0; k < i; ++k) {
        const T a = T(0.3) + T(i), b = T(1.1) - T(k), c = T(-0.7);
        all[i].steps.push_back({&r[k], a, b, c});
        combine<T>(two_workers.ctx, expected_sums[i], {{1, expected_sums[i]}, {a, expected_directions[i]}});
        combine<T>(two_workers.ctx, expected_directions[i], {{b, r[k]}, {c, expected_directions[i]}});
      }
    }
    advance(two_workers.ctx, all);
    for (std::uint32_t i = 0; i < 8; ++i)
      EXPECT_TRUE(same_bits(sums[i], expected_sums[i]) && same_bits(directions[i], expected_directions[i]))
          << i << " steps, " << lanes << " lanes";
  }
  advance(two_workers.ctx, std::vector<advancing_sum<T>>());
}

TEST(flavours, have_the_sums_of_both_spinors) {
  rank_context ranks(single_rank());
  const auto layout = layout_of(extents, 2);
  const flavours<double> x{random_spinors_on(layout, 1), random_spinors_on(layout, 2)};
  const flavours<double> y{random_spinors_on(layout, 3), random_spinors_on(layout, 4)};
  EXPECT_EQ(norm2(ranks.ctx, x), norm2(ranks.ctx, x.up) + norm2(ranks.ctx, x.down));
  EXPECT_EQ(dot(ranks.ctx, x, y), dot(ranks.ctx, x.up, y.up) + dot(ranks.ctx, x.down, y.down));
}

TEST(flavours, are_visited_upper_first_and_spinors_once) {
  const auto layout = layout_of(extents, 1);
  flavours<double> x{spinors<double>(layout), spinors<double>(layout)};
  std::vector<const void*> visited;
  for_each_flavour([&](auto& part) { visited.push_back(&part); }, x);
  EXPECT_EQ(visited, (std::vector<const void*>{&x.up, &x.down}));
  visited.clear();
  for_each_flavour([&](auto& a, auto& b) { visited.push_back(&a), visited.push_back(&b); }, x.up, x.down);
  EXPECT_EQ(visited, (std::vector<const void*>{&x.up, &x.down}));
}

}  // namespace
}  // namespace plaq::lqcd
