// Measurements where their formulas are closed: one site, few vertices or none, one frequency, the last momentum.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/random.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "plaq/dca/reference.hpp"
#include "plaq/dca/walk/neighbours.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

using complex = std::complex<double>;
constexpr double beta = 3;

/// Configuration of one site with vertices at these times and a given M, equal for both spins.
sample on_one_site(std::vector<double> tau, float diagonal, float beside = 0) {
  sample s;
  const int k = int(tau.size());
  s.first = {0, k};
  s.tau = std::move(tau);
  for (auto& m : s.m) {
    m.reshape(k, k);
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < k; ++i) m(i, j) = i == j ? diagonal : beside;
  }
  return s;
}

// M(R, i w)
// ---------------------------------------------------------------------------------------------------------------------

TEST(single_particle_corner, one_vertex_gives_its_element_of_M_at_every_frequency) {
  single_particle m(beta, 1, {1, 3, 99}, {0});
  sample s = on_one_site({1.234}, -0.75f);
  s.sign = -1;
  s.mis_weight = 0.5;
  m.accumulate(s);
  std::vector<double> sum(m.size());
  m.flush(sum);
  ASSERT_EQ(sum.size(), 6u);
  for (std::size_t f = 0; f < 3; ++f) {
    EXPECT_NEAR(sum[2 * f], -0.5 * -0.75, 1e-6) << "sign, weight and M";
    EXPECT_NEAR(sum[2 * f + 1], 0, 1e-6) << "a vertex with itself has no phase";
  }
}

TEST(single_particle_corner, two_vertices_give_the_cosine_of_their_distance) {
  single_particle m(beta, 1, {1, 5}, {0});
  m.accumulate(on_one_site({0.5, 1.7}, 0.25f, 0.125f));
  std::vector<double> sum(m.size());
  m.flush(sum);
  for (std::size_t f = 0; f < 2; ++f) {
    const double w = (f == 0 ? 1 : 5) * M_PI / beta;
    EXPECT_NEAR(sum[2 * f], 2 * 0.25 + 2 * 0.125 * std::cos(1.2 * w), 1e-6);
    EXPECT_NEAR(sum[2 * f + 1], 0, 1e-6) << "M is symmetric";
  }
}

TEST(single_particle_corner, vertices_of_two_sites_go_to_the_difference_of_the_sites) {
  const torus ring{3, 1};
  single_particle m(beta, 3, {1}, ring.difference());
  sample s = random_sample({1, 0, 1}, beta, 8);
  m.accumulate(s);
  std::vector<double> sum(m.size());
  m.flush(sum);
  const double w = M_PI / beta;
  const auto element = [&](int p, int q) {
    return 0.5 * double(s.m[0](p, q) + s.m[1](p, q)) *
           std::polar(1., w * (s.tau[std::size_t(p)] - s.tau[std::size_t(q)]));
  };
  const complex wanted[] = {element(0, 0) + element(1, 1), element(0, 1), element(1, 0)};  // 0 - 2 = 1 on the ring
  for (std::size_t R = 0; R < 3; ++R) {
    EXPECT_NEAR(sum[2 * R], wanted[R].real(), 1e-6) << R;
    EXPECT_NEAR(sum[2 * R + 1], wanted[R].imag(), 1e-6) << R;
  }
}

TEST(single_particle_corner, without_frequencies_has_no_sums) {
  single_particle m(beta, 1, {}, {0});
  EXPECT_EQ(m.size(), 0u);
  EXPECT_NO_THROW(m.flush({}));
}

TEST(single_particle_corner, refuses_frequencies_that_are_not_positive_and_odd) {
  for (const int n : {0, 2, -1, -2, 100}) EXPECT_THROW(single_particle(beta, 1, {1, n}, {0}), runtime_failure) << n;
  EXPECT_NO_THROW(single_particle(beta, 1, {1, 101}, {0}));
}

TEST(single_particle_corner, refuses_differences_of_another_cluster) {
  EXPECT_THROW(single_particle(beta, 2, {1}, {0}), runtime_failure);
  EXPECT_THROW(single_particle(beta, 1, {1}, {0, 0}), runtime_failure);
  EXPECT_THROW(single_particle(beta, 1, {1}, {}), runtime_failure);
}

// Correlations of the bath
// ---------------------------------------------------------------------------------------------------------------------

struct bath_alone : testing::TestWithParam<torus> {
  bath_alone() {
    s.first.assign(std::size_t(sites) + 1, 0);
    g.evaluate(s, random_words({3, 1, 0, 0, 0, 0}, 5));
  }
  const torus cluster = GetParam();
  const int sites = cluster.size();
  const two_level_bath bath{cluster, beta, 0.5, 0.4};
  const std::shared_ptr<const g0_table> g0 = bath.table();
  sample s;
  green_at_times g{g0};
  const double hole = bath.at_time(0, 0), electron = 1 - hole;

  std::vector<double> flushed(measures::measurement& of, int size) {
    of.accumulate(g, 1);
    std::vector<double> out(static_cast<std::size_t>(size));
    of.flush(out);
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(clusters, bath_alone, testing::Values(torus{1, 1}, torus{2, 1}, torus{2, 2}, torus{3, 1}));

TEST_P(bath_alone, has_the_density_of_both_spins) {
  measures::density density;
  EXPECT_NEAR(flushed(density, 1)[0], 2 * electron, 1e-8);
  EXPECT_NEAR(density.last(), 2 * electron, 1e-8);
}

TEST_P(bath_alone, has_the_double_occupancy_of_independent_spins) {
  measures::double_occupancy pairs;
  EXPECT_NEAR(flushed(pairs, 1)[0], electron * electron, 1e-8);
}

TEST_P(bath_alone, has_the_spin_correlations_of_free_electrons) {
  // <S^z_R S^z_0> = 1/2 (delta_R0 - g(-R)) g(R), g = <c c+> at equal times
  measures::equal_time_correlation<measures::two_point::spin> spin(sites);
  const auto found = flushed(spin, sites);
  for (int R = 0; R < sites; ++R) {
    const double there = bath.at_time(R, 0);
    EXPECT_NEAR(found[std::size_t(R)], 0.5 * ((R == 0) - there) * there, 1e-8) << R;
  }
}

TEST_P(bath_alone, has_charge_correlations_that_exceed_the_density_squared_by_four_times_those_of_spins) {
  measures::equal_time_correlation<measures::two_point::spin> spin(sites);
  measures::equal_time_correlation<measures::two_point::charge> charge(sites);
  const auto of_spin = flushed(spin, sites), of_charge = flushed(charge, sites);
  for (std::size_t R = 0; R < of_spin.size(); ++R)
    EXPECT_NEAR(of_charge[R], 4 * electron * electron + 4 * of_spin[R], 1e-8) << R;
}

TEST_P(bath_alone, has_the_equal_time_function_of_the_bath) {
  measures::equal_time_green green(sites);
  const auto found = flushed(green, sites);
  for (int R = 0; R < sites; ++R) EXPECT_NEAR(found[std::size_t(R)], bath.at_time(R, 0), 1e-8) << R;
}

// G(k, k')
// ---------------------------------------------------------------------------------------------------------------------

TEST(two_frequency_corner, of_one_vertex_is_the_bath_on_both_sides_of_M) {
  const two_level_bath bath({1, 1}, beta, 0.5, 0.4);
  const double tau = 0.9, M = 0.625;
  two_frequency functions(beta, torus{1, 1}.momenta(), 2, bath.at_frequencies(2));
  const sample s = on_one_site({tau}, float(M));
  two_frequency::planes g;
  functions.prepare(s);
  functions.evaluate(s, 0, g);
  ASSERT_EQ(g.re.size(), 8u);
  for (int n = 0; n < 2; ++n)
    for (int m = -2; m < 2; ++m) {
      const complex there = m >= 0 ? bath.at_frequency(0, m) : std::conj(bath.at_frequency(0, -1 - m));
      const complex phase = std::polar(1., 2 * M_PI * (n - m) * tau / beta);
      const complex wanted =
          (n == m ? bath.at_frequency(0, n) : 0) - bath.at_frequency(0, n) * M * phase * there / beta;
      const auto i = std::size_t(n * 4 + m + 2);
      EXPECT_NEAR(g.re[i], wanted.real(), 1e-5) << n << " " << m;
      EXPECT_NEAR(g.im[i], wanted.imag(), 1e-5) << n << " " << m;
    }
}

TEST(two_frequency_corner, refuses_every_table_of_another_size) {
  const torus cluster{2, 1};
  const std::vector<complex> g0(4);
  EXPECT_NO_THROW(two_frequency(beta, cluster.momenta(), 2, g0));
  EXPECT_THROW(two_frequency(beta, cluster.momenta(), 3, g0), runtime_failure);
  for (const int wrong : {0, 1, 2}) {
    momentum_tables momenta = cluster.momenta();
    if (wrong == 0) momenta.fourier.pop_back();
    if (wrong == 1) momenta.sum.pop_back();
    if (wrong == 2) momenta.minus.push_back(0);
    EXPECT_THROW(two_frequency(beta, momenta, 2, g0), runtime_failure) << wrong;
  }
}

/// Two random functions and the products of channels, at the smallest windows and the last momentum.
struct channel_corner : testing::TestWithParam<torus> {
  std::array<two_frequency::planes, 2> drawn(const two_frequency& functions) const {
    std::mt19937_64 random(3);
    std::array<two_frequency::planes, 2> g;
    for (auto& spin : g)
      for (auto* plane : {&spin.re, &spin.im}) {
        plane->resize(functions.block() * std::size_t(sites) * std::size_t(sites));
        for (float& x : *plane) x = std::uniform_real_distribution<float>(-1, 1)(random);
      }
    return g;
  }
  const torus cluster = GetParam();
  const int sites = cluster.size();
  const momentum_tables momenta = cluster.momenta();
};
INSTANTIATE_TEST_SUITE_P(clusters, channel_corner, testing::Values(torus{1, 1}, torus{3, 1}, torus{2, 2}));

TEST_P(channel_corner, is_the_product_at_odd_windows_and_the_largest_bosonic_index) {
  for (const int window : {1, 3, 5})
    for (const int bosonic : {0, window, -window, 2 * window + 1, -2 * window - 1})
      for (const channel kind : {channel::pp, channel::magnetic, channel::charge}) {
        const int frequencies = vertex_channel::frequencies_needed(window, bosonic), Q = sites - 1;
        const two_frequency functions(beta, momenta, frequencies,
                                      std::vector<complex>(std::size_t(sites * frequencies)));
        const auto g = drawn(functions);
        const reference::stored_functions exact{momenta, frequencies, {&g[0], &g[1]}};
        vertex_channel sums(functions, kind, Q, bosonic, window);
        std::vector<float> direct(sums.direct_size());
        sums.measure_direct(g[0], g[1], direct);
        sums.accumulate(-0.5, g[0], g[1], direct);
        std::vector<double> found(sums.size(), 7.);
        sums.flush(found);
        std::size_t i = 0;
        for (int K = 0; K < sites; ++K)
          for (int P = 0; P < sites; ++P)
            for (int a = -window; a < window; ++a)
              for (int b = -window; b < window; ++b, i += 2) {
                const complex value = -0.5 * reference::product(exact, momenta, kind, K, a, P, b, Q, bosonic);
                ASSERT_NEAR(found[i] - 7, value.real(), 1e-5) << window << " " << bosonic << " " << int(kind);
                ASSERT_NEAR(found[i + 1] - 7, value.imag(), 1e-5) << window << " " << bosonic << " " << int(kind);
              }
        EXPECT_EQ(i, found.size());
      }
}

TEST_P(channel_corner, restarts_from_zero_after_a_flush) {
  const two_frequency functions(beta, momenta, 2, std::vector<complex>(std::size_t(sites) * 2));
  const auto g = drawn(functions);
  vertex_channel pp(functions, channel::pp, 0, 1, 1);
  pairing pairs(functions, std::vector<int>(std::size_t(sites * sites)), 1);
  pp.accumulate(1, g[0], g[1], {});
  pairs.accumulate(1, g[0], g[1]);
  std::vector<double> first(pp.size()), second(pp.size()), of_pairs(pairs.size()), again(pairs.size());
  pp.flush(first);
  pp.flush(second);
  pairs.flush(of_pairs);
  pairs.flush(again);
  EXPECT_NE(first, second);
  EXPECT_EQ(second, std::vector<double>(second.size()));
  EXPECT_NE(of_pairs, again);
  EXPECT_EQ(again, std::vector<double>(again.size()));
}

TEST_P(channel_corner, has_direct_parts_unless_spins_are_opposite) {
  const two_frequency functions(beta, momenta, 2, std::vector<complex>(std::size_t(sites) * 2));
  EXPECT_EQ(vertex_channel(functions, channel::pp, 0, 0, 2).direct_size(), 0u);
  for (const channel kind : {channel::magnetic, channel::charge})
    EXPECT_EQ(vertex_channel(functions, kind, 0, 0, 2).direct_size(), std::size_t(2 * 2 * 2 * 2 * sites));
}

// Neighbours, layouts and bins
// ---------------------------------------------------------------------------------------------------------------------

TEST(neighbour_corner, without_vertices_the_weight_is_one) {
  sample s;
  s.first = {0, 0};
  EXPECT_EQ(mis_weight(s), 1);
}

TEST(neighbour_corner, of_one_vertex_has_the_share_of_its_two_spins) {
  const expansion p{beta, 4, 1, 1};
  const auto g0 = two_level_bath({1, 1}, beta, 0.5, 0.4).table();
  walker<double> w(p, g0, 4);
  const std::vector<vertex> up = {{0, 1, 1.}}, down = {{0, -1, 1.}};
  w.reset({up, 1});
  sample s;
  w.fill(s);
  const double a = std::abs(double(reference::weight(p, *g0, up))),
               b = std::abs(double(reference::weight(p, *g0, down)));
  EXPECT_NEAR(mis_weight(s), a / (a + b), 1e-12);
}

TEST(bin_layout_corner, shares_beyond_the_rows_are_empty) {
  const bin_layout whole = two_particle_layout(1, 1, 1, 0);
  std::size_t rows = 0;
  for (int part = 0; part < 5; ++part) {
    const bin_layout share = share_of(whole, {part, 5});
    EXPECT_LE(share[0].rows(), 1u);
    EXPECT_EQ(total_size(share), share[0].rows() * 2);
    rows += share[0].rows();
  }
  EXPECT_EQ(rows, 1u);
}

TEST(bin_layout_corner, a_single_value_is_one_row_of_one_number) {
  const bin_array single{"sign", {}}, complex_value{"z", {}, true};
  EXPECT_EQ(single.size(), 1u);
  EXPECT_EQ(single.rows(), 1u);
  EXPECT_EQ(complex_value.size(), 2u);
}

TEST(bin_layout_corner, names_the_array_that_is_missing) {
  try {
    array_named(layout_of(1, {}), "channel_0");
    FAIL();
  } catch (const runtime_failure& e) {
    EXPECT_NE(std::string(e.what()).find("channel_0"), std::string::npos) << e.what();
  }
}

TEST(check_finite, finds_the_value_at_any_place) {
  for (std::size_t at = 0; at < 3; ++at)
    for (const double value : {double(NAN), HUGE_VAL, -HUGE_VAL}) {
      bin_result bin{{1., 2., 3.}, {}};
      bin.sums[at] = value;
      EXPECT_THROW(check_finite(bin, 12), runtime_failure) << at << " " << value;
    }
  EXPECT_NO_THROW(check_finite({}, 12)) << "an empty bin";
}

}  // namespace
}  // namespace plaq::dca
