// Kernels of multigrid against loops over their rows, and matrices on the coarse lattice.
#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <random>
#include <vector>

#include "fields_of_tests.hpp"
#include "plaq/lqcd/solver/coarse.hpp"
#include "plaq/lqcd/solver/multigrid_kernel.hpp"
#include "plaq/lqcd/solver/spinor_slots.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using number = std::complex<double>;

/// Rows of n complex numbers, real parts first.
struct rows {
  rows(std::int64_t count, int n, unsigned seed = 0) : n(n), numbers(std::size_t(2 * n * count)) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (auto& x : numbers) x = seed ? uniform(random) : 0.f;
  }
  number get(std::int64_t row, int i) const {
    const auto at = std::size_t(2 * n * row + i);
    return {numbers[at], numbers[at + std::size_t(n)]};
  }
  float* data() { return numbers.data(); }
  const float* data() const { return numbers.data(); }

  int n;
  std::vector<float> numbers;
};

void expect_near(number actual, number expected, double scale = 1) {
  EXPECT_NEAR(actual.real(), expected.real(), 3e-5 * scale);
  EXPECT_NEAR(actual.imag(), expected.imag(), 3e-5 * scale);
}

class rows_of : public testing::TestWithParam<int> {
 protected:
  const int n = GetParam();
  static constexpr std::int64_t sites = 6;
};
INSTANTIATE_TEST_SUITE_P(vectors, rows_of, testing::Values(16, 32, 48));

TEST_P(rows_of, restrict_spinors_to_their_products_with_test_vectors) {
  const rows V(12 * sites, n, 1), psi(12 * sites, 1, 2);
  rows coarse(1, 2 * n);
  restrict_to(n, 6, sites, V.data(), psi.data(), coarse.data());
  for (int c = 0; c < 2; ++c)
    for (int j = 0; j < n; ++j) {
      number sum = 0;
      for (std::int64_t i = 0; i < 12 * sites; ++i)
        if (i % 12 / 6 == c) sum += std::conj(V.get(i, j)) * psi.get(i, 0);
      expect_near(coarse.get(0, c * n + j), sum);
    }
}

TEST_P(rows_of, prolong_rows_to_sums_of_test_vectors) {
  const rows V(12 * sites, n, 1), coarse(1, 2 * n, 2);
  rows psi(12 * sites, 1);
  prolong_from(n, 6, sites, V.data(), coarse.data(), psi.data());
  for (std::int64_t i = 0; i < 12 * sites; ++i) {
    number sum = 0;
    for (int j = 0; j < n; ++j) sum += V.get(i, j) * coarse.get(0, int(i % 12 / 6) * n + j);
    expect_near(psi.get(i, 0), sum);
  }
}

TEST_P(rows_of, become_orthonormal_for_each_chirality) {
  rows V(12 * sites, n, 1);
  orthonormalise(n, 6, sites, V.data());
  const int rank = std::min<int>(n, 6 * sites);
  for (int c = 0; c < 2; ++c)
    for (int j = 0; j < rank; ++j)
      for (int k = 0; k <= j; ++k) {
        number sum = 0;
        for (std::int64_t i = 0; i < 12 * sites; ++i)
          if (i % 12 / 6 == c) sum += std::conj(V.get(i, j)) * V.get(i, k);
        expect_near(sum, j == k ? 1 : 0);
      }
}

TEST_P(rows_of, that_depend_on_others_become_zero) {
  rows V(12 * sites, n, 1);
  for (std::int64_t i = 0; i < 12 * sites; ++i) {  // column 3 is a combination of columns 0 and 1
    const auto z = number(0.5, -1) * V.get(i, 0) + 2.0 * V.get(i, 1);
    V.numbers[std::size_t(2 * n * i + 3)] = float(z.real());
    V.numbers[std::size_t(2 * n * i + n + 3)] = float(z.imag());
  }
  orthonormalise(n, 6, sites, V.data());
  for (std::int64_t i = 0; i < 12 * sites; ++i) EXPECT_EQ(V.get(i, 3), 0.0);
}

TEST_P(rows_of, are_projected_by_the_upper_half_of_one_minus_gamma) {
  // With u: rows of u (1, -e_mu) V. Rows without u, adjoint, times those of a neighbour are V^+ (1 - gamma_mu) U V.
  const rows V(12, n, 1), ahead(12, n, 2);
  std::array<std::complex<float>, 9> u;
  const auto link = random_su3({.seed = 5});
  for (std::size_t i = 0; i < 9; ++i) u[i] = std::complex<float>(link[i]);
  for (int mu = 0; mu < 4; ++mu) {
    rows left(6, 2 * n), right(6, 2 * n);
    project_rows(n, mu, V.data(), nullptr, left.data());
    project_rows(n, mu, ahead.data(), u.data(), right.data());
    for (const int i : {0, 5, n - 1})
      for (const int j : {0, 2, n - 1})
        for (int c = 0; c < 2; ++c)
          for (int d = 0; d < 2; ++d) {
            number product = 0, expected = 0;
            for (std::int64_t r = 0; r < 6; ++r) product += std::conj(left.get(r, c * n + i)) * right.get(r, d * n + j);
            for (int s = 2 * c; s < 2 * c + 2; ++s)
              for (int r = 2 * d; r < 2 * d + 2; ++r)
                for (int a = 0; a < 3; ++a)
                  for (int b = 0; b < 3; ++b)
                    expected += std::conj(V.get(3 * s + a, i)) *
                                ((s == r ? 1.0 : 0.0) - reference::gamma(mu)[std::size_t(s)][std::size_t(r)]) *
                                number(u[std::size_t(3 * a + b)]) * ahead.get(3 * r + b, j);
            expect_near(product, expected);
          }
  }
}

TEST_P(rows_of, are_multiplied_by_matrices_of_six_rows) {
  const rows V(6, n, 1);
  rows out(6, n);
  std::array<std::complex<float>, 36> a;
  for (std::size_t i = 0; i < 36; ++i) a[i] = {float(i) / 36, 1 - float(i) / 18};
  multiply_rows(n, a.data(), V.data(), out.data());
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < n; ++j) {
      number sum = 0;
      for (int k = 0; k < 6; ++k) sum += number(a[std::size_t(6 * i + k)]) * V.get(k, j);
      expect_near(out.get(i, j), sum);
    }
}

TEST_P(rows_of, have_products_that_are_added) {
  const rows A(10, n, 1), B(10, n, 2), before(n, n, 3);
  rows C(n, n, 3);
  add_products(n, 10, A.data(), B.data(), C.data());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      number sum = before.get(i, j);
      for (std::int64_t k = 0; k < 10; ++k) sum += std::conj(A.get(k, i)) * B.get(k, j);
      expect_near(C.get(i, j), sum);
    }
}

TEST_P(rows_of, are_sums_of_products_with_matrices_by_column) {
  const rows first(n, n, 1), second(n, n, 2), x(1, n, 3), y(1, n, 4), before(1, n, 5);
  rows out(1, n, 5);
  const std::array<const float*, 2> matrices{first.data(), second.data()}, vectors{x.data(), y.data()};
  multiply_coarse(n, 2, matrices.data(), vectors.data(), out.data());
  for (int i = 0; i < n; ++i) {
    number sum = before.get(0, i);
    for (int k = 0; k < n; ++k) sum += first.get(k, i) * x.get(0, k) + second.get(k, i) * y.get(0, k);
    expect_near(out.get(0, i), sum);
  }
}

TEST_P(rows_of, are_added_with_a_factor_and_multiplied_with_each_other) {
  const rows x(sites, n, 1), before(sites, n, 2);
  rows out(sites, n, 2);
  add_coarse(n, sites, {0.5f, -2.f}, x.data(), out.data());
  for (std::int64_t s = 0; s < sites; ++s) {
    number product = 0;
    for (int i = 0; i < n; ++i) {
      expect_near(out.get(s, i), before.get(s, i) + number(0.5, -2) * x.get(s, i));
      product += std::conj(x.get(s, i)) * out.get(s, i);
    }
    expect_near(number(multiply_coarse(n, x.data() + 2 * n * s, out.data() + 2 * n * s)), product);
  }
}

/// Coarse lattice of 2^4 or more aggregates with random matrices, near one so that it can be inverted.
struct random_coarse_lattice {
  static constexpr int size = 32;
  std::shared_ptr<const aggregation> aggregates =
      std::make_shared<aggregation>(lqcd::lattice({8, 4, 4, 4}), coordinates{2, 2, 2, 2});
  coarse_links couplings;

  random_coarse_lattice() {
    const auto count = aggregates->count();
    couplings.diagonal = rows(count * size, size, 1).numbers;
    for (auto& x : couplings.diagonal) x *= 0.02f;
    for (std::int64_t a = 0; a < count; ++a)
      for (int i = 0; i < size; ++i) couplings.diagonal[std::size_t((a * size + i) * 2 * size + i)] += 1;
    for (std::size_t mu = 0; mu < 4; ++mu) {
      couplings.ahead[mu] = rows(count * size, size, unsigned(2 + mu)).numbers;
      for (auto& x : couplings.ahead[mu]) x *= 0.02f;
    }
  }
  static number element(const std::vector<float>& matrices, std::int64_t a, int i, int j) {
    const auto at = std::size_t((a * size + i) * 2 * size + j);
    return {matrices[at], matrices[at + size]};
  }
};

TEST(coarse_matrices, couple_aggregates_to_themselves_and_their_neighbours) {
  rank_context ranks(single_rank());
  const random_coarse_lattice lattice;
  constexpr int size = random_coarse_lattice::size;
  coarse_matrix M(ranks.ctx, lattice.aggregates, size, lattice.couplings);
  auto x = M.vector(), out = M.vector();
  x.numbers = rows(x.count, size, 9).numbers;
  M.apply(out, x);
  const auto get = [&](const coarse_vector& v, std::int64_t a, int i) {
    return number(v.row(a)[i], v.row(a)[size + i]);
  };
  for (std::int64_t a = 0; a < x.count; ++a)
    for (int i = 0; i < size; ++i) {
      number sum = 0;
      for (int j = 0; j < size; ++j) {
        sum += lattice.element(lattice.couplings.diagonal, a, i, j) * get(x, a, j);
        for (int mu = 0; mu < 4; ++mu) {
          const auto& ahead = lattice.couplings.ahead[std::size_t(mu)];
          const auto front = lattice.aggregates->neighbour(a, 2 * mu),
                     back = lattice.aggregates->neighbour(a, 2 * mu + 1);
          const double sign = (i < size / 2) == (j < size / 2) ? 1 : -1;
          sum += lattice.element(ahead, a, i, j) * get(x, front, j) +
                 sign * std::conj(lattice.element(ahead, back, j, i)) * get(x, back, j);
        }
      }
      expect_near(get(out, a, i), sum);
    }
}

TEST(coarse_matrices, are_inverted_to_the_requested_residual) {
  rank_context ranks(single_rank());
  const random_coarse_lattice lattice;
  coarse_matrix M(ranks.ctx, lattice.aggregates, random_coarse_lattice::size, lattice.couplings);
  auto b = M.vector(), x = M.vector(), Mx = M.vector();
  b.numbers = rows(b.count, random_coarse_lattice::size, 9).numbers;
  const auto next = [&](coarse_vector& z, coarse_vector& w, const coarse_vector& r) { z = r, M.apply_odd(w, z); };
  int previous = 0;
  for (const double fraction : {0.1, 1e-3, 1e-5}) {
    const int steps = M.solve(x, b, fraction, 100, next);
    EXPECT_GT(steps, previous);
    previous = steps;
    M.apply(Mx, x);
    add(ranks.ctx, Mx, -1, b);
    EXPECT_LT(std::sqrt(norm2(ranks.ctx, Mx) / norm2(ranks.ctx, b)), 2 * fraction);
  }
  EXPECT_EQ(M.solve(x, b, 1e-5, 2, next), 2);
}

TEST(coarse_vectors, have_exact_sums_of_their_rows) {
  rank_context ranks(single_rank());
  coarse_vector x(5, 16), y(5, 16);
  x.numbers = rows(5, 16, 1).numbers, y.numbers = rows(5, 16, 2).numbers;
  number expected = 0;
  for (std::int64_t a = 0; a < 5; ++a)
    for (int i = 0; i < 16; ++i)
      expected += std::conj(number(x.row(a)[i], x.row(a)[16 + i])) * number(y.row(a)[i], y.row(a)[16 + i]);
  expect_near(dot(ranks.ctx, x, y), expected);
  EXPECT_EQ(norm2(ranks.ctx, x), dot(ranks.ctx, x, x).real());
  const auto before = y;
  add(ranks.ctx, y, {2, 1}, x);
  for (std::int64_t a = 0; a < 5; ++a)
    for (int i = 0; i < 16; ++i)
      expect_near({y.row(a)[i], y.row(a)[16 + i]}, number(before.row(a)[i], before.row(a)[16 + i]) +
                                                       number(2, 1) * number(x.row(a)[i], x.row(a)[16 + i]));
}

TEST(aggregates, gather_and_scatter_spinors_by_slot) {
  rank_context ranks(single_rank());
  for (const int lanes : lane_counts<float>()) {
    const auto layout = layout_of({8, 4, 4, 8}, lanes);
    const aggregation aggregates(layout->lattice(), {2, 2, 1, 4});
    const spinor_slots slots(layout, aggregates);
    for (const auto subset : {sites::all, sites::odd}) {
      const auto f = random_spinors_on<float>(layout, 1, subset);
      std::vector<float> numbers(std::size_t(product(layout->lattice().extents) * 24));
      slots.gather(ranks.ctx, f, numbers);
      for (std::int64_t s = 0; s < product(layout->lattice().extents); ++s)
        for (int i = 0; f.has(parity(aggregates.site(s))) && i < 12; ++i)
          EXPECT_EQ(std::complex<float>(numbers[std::size_t(24 * s + 2 * i)], numbers[std::size_t(24 * s + 2 * i + 1)]),
                    f.get(slots.location(s), i));
      spinors<float> back(layout, subset);
      slots.scatter(ranks.ctx, numbers, back);
      EXPECT_TRUE(same_bits(back, f)) << lanes;
    }
  }
}

TEST(aggregates, are_numbered_even_ones_first_with_odd_neighbours) {
  const aggregation aggregates(lqcd::lattice({8, 4, 4, 8}), {2, 2, 1, 2});
  EXPECT_EQ(aggregates.count(), 8 * 4 * 4 * 8 / 8);
  EXPECT_EQ(aggregates.count(0), aggregates.count(1));
  EXPECT_EQ(aggregates.first(1), aggregates.count(0));
  EXPECT_EQ(aggregates.sites(), 8);
  for (std::int64_t a = 0; a < aggregates.count(); ++a)
    for (int d = 0; d < neighbours; ++d) {
      const auto next = aggregates.neighbour(a, d);
      EXPECT_NE(a < aggregates.first(1), next < aggregates.first(1));
      EXPECT_EQ(aggregates.neighbour(next, d ^ 1), a);
    }
}

}  // namespace
}  // namespace plaq::lqcd
