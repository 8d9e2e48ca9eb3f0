// Derivative of the hopping matrix against its formula, and conversions and refusals of the hopping matrix.
#include <gtest/gtest.h>

#include "dense_operators.hpp"
#include "plaq/lqcd/dirac/hopping.hpp"
#include "plaq/lqcd/lattice/linear.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 8, 4, 4};

/// m_mu(x) = U tr_spin [(1 - gamma_mu) X(x + mu) Y(x)^+ + (1 + gamma_mu) Y(x + mu) X(x)^+], [site][mu][row][column].
dense::links derivative_by_formula(const dense::links& u, const dense::vector& X, const dense::vector& Y) {
  dense::links m(u.size());
  for (std::size_t site = 0; site < X.size() / 12; ++site)
    for (std::size_t mu = 0; mu < 4; ++mu) {
      const auto x = coordinates_in(std::int64_t(site), extents);
      const auto ahead = std::size_t(index_in(neighbour_of(x, int(mu), 1, extents), extents));
      std::array<dense::number, 9> spin_trace{};
      for (std::size_t i = 0; i < 9; ++i)
        for (std::size_t s = 0; s < 4; ++s)
          for (std::size_t r = 0; r < 4; ++r) {
            const auto gamma = reference::gamma(int(mu))[s][r];
            const dense::number one = s == r ? 1.0 : 0.0;
            spin_trace[i] += (one - gamma) * X[12 * ahead + 3 * r + i / 3] * std::conj(Y[12 * site + 3 * s + i % 3]) +
                             (one + gamma) * Y[12 * ahead + 3 * r + i / 3] * std::conj(X[12 * site + 3 * s + i % 3]);
          }
      for (std::size_t i = 0; i < 9; ++i)
        for (std::size_t k = 0; k < 3; ++k)
          m[(4 * site + mu) * 9 + i] += u[(4 * site + mu) * 9 + i / 3 * 3 + k] * spin_trace[3 * k + i % 3];
    }
  return m;
}

template <class T>
class derivatives : public testing::Test {
 public:
  rank_context ranks{single_rank()};
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(derivatives, precisions);

TYPED_TEST(derivatives, are_their_formula_with_all_lanes) {
  using T = TypeParam;
  for (const int lanes : lane_counts<T>()) {
    const auto layout = layout_of(extents, lanes);
    const auto u = random_links_on<T>(layout);
    const auto X = random_spinors_on<T>(layout, 1), Y = random_spinors_on<T>(layout, 2);
    hopping<T> H(this->ranks.ctx, u);
    links<T> m(layout);
    H.derivative(m, X, Y);
    const auto expected = derivative_by_formula(reference::whole(u), reference::whole(X), reference::whole(Y));
    EXPECT_LT(difference_from(m, expected), sizeof(T) == 8 ? 1e-12 : 1e-4) << lanes;
  }
}

TYPED_TEST(derivatives, overwrite_what_was_there) {
  using T = TypeParam;
  const auto layout = layout_of(extents, max_lanes<T>());
  const auto u = random_links_on<T>(layout);
  const auto X = random_spinors_on<T>(layout, 1), Y = random_spinors_on<T>(layout, 2);
  hopping<T> H(this->ranks.ctx, u);
  links<T> m(layout), again(u);
  H.derivative(m, X, Y);
  H.derivative(again, X, Y);
  EXPECT_TRUE(same_bits(m, again));
}

TYPED_TEST(derivatives, of_fields_on_some_sites_are_refused) {
  using T = TypeParam;
  const auto layout = layout_of(extents, 1);
  hopping<T> H(this->ranks.ctx, random_links_on<T>(layout));
  links<T> m(layout);
  const spinors<T> all(layout), odd(layout, sites::odd);
  EXPECT_ANY_THROW(H.derivative(m, odd, odd));
  EXPECT_ANY_THROW(H.derivative(m, all, odd));
}

TYPED_TEST(derivatives, belong_to_a_matrix_that_is_hermitian_with_gamma5) {
  // H^+ = gamma_5 H gamma_5, and (phi, H psi) = (H^+ phi, psi) between odd and even sites.
  using T = TypeParam;
  auto& ctx = this->ranks.ctx;
  const auto layout = layout_of(extents, max_lanes<T>());
  hopping<T> H(ctx, random_links_on<T>(layout));
  const auto psi = random_spinors_on<T>(layout, 1), phi = random_spinors_on<T>(layout, 2);
  spinors<T> rotated(layout), H_rotated(layout), expected(layout), H_dagger(layout), H_psi(layout);
  combine<T>(ctx, rotated, {linear_term<T>::gamma5(phi)});
  for (const int p : {0, 1}) {
    H(H_rotated, rotated, p);
    H(H_dagger, phi, p, {.dagger = true});
    H(H_psi, psi, p);
  }
  combine<T>(ctx, expected, {linear_term<T>::gamma5(H_rotated)});
  EXPECT_TRUE(same_bits(H_dagger, expected));
  const auto left = dot(ctx, phi, H_psi), right = dot(ctx, H_dagger, psi);
  EXPECT_LT(std::abs(left - right), (sizeof(T) == 8 ? 1e-13 : 1e-5) * norm2(ctx, psi));
}

TYPED_TEST(derivatives, refuse_a_hopping_matrix_between_sites_of_one_parity) {
  using T = TypeParam;
  const auto layout = layout_of(extents, 1);
  hopping<T> H(this->ranks.ctx, random_links_on<T>(layout));
  spinors<T> even(layout, sites::even), odd(layout, sites::odd);
  EXPECT_ANY_THROW(H(even, even, 0));
  EXPECT_ANY_THROW(H(odd, even, 0));
  EXPECT_ANY_THROW(H(even, odd, 0, {.phi = &odd}));
  EXPECT_NO_THROW(H(even, odd, 0, {.phi = &even}));
}

TEST(hopping_matrices, are_converted_to_other_precisions_storage_and_lanes) {
  rank_context ranks(single_rank());
  const auto u = random_links_on(layout_of(extents, max_lanes<double>()));
  const hopping<double> H(ranks.ctx, u);
  const auto expect = [&]<class T, class S>(double tolerance) {
    for (const int lanes : lane_counts<T>()) {
      const auto layout = layout_of(extents, lanes);
      hopping<T, S> converted(H, layout);
      const auto psi = random_spinors_on<T>(layout);
      spinors<T> out(layout);
      for (const int p : {0, 1}) converted(out, psi, p);
      EXPECT_LT(difference_from(out, reference::hopping(extents, reference::whole(u), reference::whole(psi))),
                tolerance)
          << lanes;
    }
  };
  expect.operator()<double, double>(1e-13);
  expect.operator()<float, float>(2e-5);
  expect.operator()<float, fixed16>(1e-2);
}

TEST(hopping_matrices, show_their_links_with_the_third_row) {
  rank_context ranks(single_rank());
  const auto u = random_links_on(layout_of(extents, 4));
  const hopping<double> H(ranks.ctx, u);
  for_each_site(u.layout(), [&](const coordinates&, site_layout::location at) {
    for (int mu = 0; mu < 4; ++mu) {
      const auto link = H.link(at, mu);
      for (int i = 0; i < 9; ++i) EXPECT_LT(std::abs(link[std::size_t(i)] - u.get(at, 9 * mu + i)), 1e-15);
    }
  });
}

TEST(hopping_matrices, of_the_lattice_of_other_ranks_are_refused) {
  rank_context ranks(single_rank());
  const auto layout = std::make_shared<const site_layout>(lattice({8, 8, 4, 4}, {2, 1, 1, 1}, 1), 1);
  EXPECT_ANY_THROW(hopping<double>(ranks.ctx, random_links_on(layout)));
}

}  // namespace
}  // namespace plaq::lqcd
