#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <random>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/measure/two_particle.hpp"
#include "plaq/dca/reference.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;

namespace {

constexpr double beta = 3;

void measure(vertex_channel& sums, double weight, const two_frequency::view& up, const two_frequency::view& down) {
  std::vector<float> direct(sums.direct_size());
  sums.measure_direct(up, down, direct);
  sums.accumulate(weight, up, down, direct);
}

/// What of both spins' functions these sums read, and nothing else.
class packed_part {
 public:
  packed_part(const auto& sums, const two_frequency& functions, const std::array<two_frequency::planes, 2>& g)
      : rows_(needed(sums, functions), functions.frequencies()) {
    for (int spin = 0; spin < 2; ++spin)
      for (const auto& [plane, out] : {std::pair{&g[spin].re, &re_[spin]}, std::pair{&g[spin].im, &im_[spin]}}) {
        out->resize(rows_.size());
        EXPECT_EQ(rows_.pack(*plane, out->data()), out->data() + out->size());
      }
  }
  two_frequency::view spin(int s) const { return rows_.view(re_[s].data(), im_[s].data()); }
  std::size_t size() const { return rows_.size(); }

 private:
  static needed_rows needed(const auto& sums, const two_frequency& functions) {
    needed_rows rows(functions.sites());
    sums.add_needed(rows);
    return rows;
  }
  packed_rows rows_;
  std::array<std::vector<float>, 2> re_, im_;
};

std::array<two_frequency::planes, 2> random_planes(const two_frequency& functions) {
  std::mt19937_64 random(7);
  std::array<two_frequency::planes, 2> g;
  for (auto& spin : g)
    for (auto* plane : {&spin.re, &spin.im}) {
      plane->resize(functions.block() * functions.sites() * functions.sites());
      for (float& x : *plane) x = std::uniform_real_distribution<float>(-1, 1)(random);
    }
  return g;
}

// One cluster with real phases, one with complex ones, and one site; some sites have no vertices.
struct two_particle : testing::TestWithParam<torus> {
  torus cluster = GetParam();
  int sites = cluster.size();
  momentum_tables momenta = cluster.momenta();
  two_level_bath bath{cluster, beta, 0.5, 0.4};

  sample some_sample(std::uint64_t seed) const {
    const std::vector<int> pattern = {3, 0, 2, 1, 2, 1};
    sample s = random_sample({pattern.begin(), pattern.begin() + sites}, beta, seed);
    if (seed % 2) s.sign = -1;
    return s;
  }
  reference::green_of_configuration slow(int frequencies, const sample& s) const {
    return {beta, cluster.momenta(), frequencies, bath.at_frequencies(frequencies), s};
  }
};
INSTANTIATE_TEST_SUITE_P(clusters, two_particle, testing::Values(torus{2, 2}, torus{3, 1}, torus{3, 2}, torus{1, 1}));

}  // namespace

TEST_P(two_particle, two_frequency_agrees_with_the_sum_over_vertices) {
  const int frequencies = 3;
  two_frequency functions(beta, cluster.momenta(), frequencies, bath.at_frequencies(frequencies));
  two_frequency::planes fast;
  for (std::uint64_t seed : {1, 2}) {
    const sample s = some_sample(seed);
    const auto g = slow(frequencies, s);
    functions.prepare(s);
    for (int side = 0; side < 2; ++side) {
      functions.evaluate(s, side, fast);
      std::size_t i = 0;
      for (int k1 = 0; k1 < sites; ++k1)
        for (int k2 = 0; k2 < sites; ++k2)
          for (int a = 0; a < frequencies; ++a)
            for (int b = -frequencies; b < frequencies; ++b, ++i) {
              const auto exact = g(side, k1, a, k2, b);
              ASSERT_NEAR(fast.re[i], exact.real(), 2e-6);
              ASSERT_NEAR(fast.im[i], exact.imag(), 2e-6);
            }
    }
  }
}

TEST_P(two_particle, without_vertices_there_is_the_bath_alone) {
  two_frequency functions(beta, cluster.momenta(), 2, bath.at_frequencies(2));
  two_frequency::planes fast;
  const sample s = random_sample(std::vector<int>(sites), beta, 1);
  functions.prepare(s);
  functions.evaluate(s, 0, fast);
  std::size_t i = 0;
  for (int k1 = 0; k1 < sites; ++k1)
    for (int k2 = 0; k2 < sites; ++k2)
      for (int a = 0; a < 2; ++a)
        for (int b = -2; b < 2; ++b, ++i) {
          const auto exact = k1 == k2 && a == b ? bath.at_frequency(k1, a) : 0.;
          EXPECT_NEAR(fast.re[i], exact.real(), 1e-6);
          EXPECT_NEAR(fast.im[i], exact.imag(), 1e-6);
        }
}

TEST_P(two_particle, every_channel_agrees_with_its_product) {
  const int window = 2;
  for (int bosonic : {0, 1, -2})
    for (int transfer = 0; transfer < sites; transfer += std::max(1, sites - 1)) {
      const int frequencies = vertex_channel::frequencies_needed(window, bosonic);
      two_frequency functions(beta, cluster.momenta(), frequencies, bath.at_frequencies(frequencies));
      for (channel kind : {channel::pp, channel::magnetic, channel::charge}) {
        vertex_channel measured(functions, kind, transfer, bosonic, window);
        std::vector<reference::complex> exact;
        for (std::uint64_t seed : {1, 2}) {
          const sample s = some_sample(seed);
          const auto g = slow(frequencies, s);
          two_frequency::planes up, down;
          functions.prepare(s);
          functions.evaluate(s, 0, up);
          functions.evaluate(s, 1, down);
          measure(measured, s.sign, up, down);
          std::size_t i = 0;
          for (int k1 = 0; k1 < sites; ++k1)
            for (int k2 = 0; k2 < sites; ++k2)
              for (int a = -window; a < window; ++a)
                for (int b = -window; b < window; ++b, ++i) {
                  if (i == exact.size()) exact.push_back(0);
                  exact[i] += s.sign * reference::product(g, momenta, kind, k1, a, k2, b, transfer, bosonic);
                }
        }
        std::vector<double> sum(measured.size());
        measured.flush(sum);
        ASSERT_EQ(sum.size(), 2 * exact.size());
        for (std::size_t i = 0; i < exact.size(); ++i) {
          ASSERT_NEAR(sum[2 * i], exact[i].real(), 1e-5)
              << "kind " << int(kind) << " Q " << transfer << " m " << bosonic;
          ASSERT_NEAR(sum[2 * i + 1], exact[i].imag(), 1e-5) << "kind " << int(kind);
        }
      }
    }
}

// A window that is not in whole vectors, smaller than what is measured, of functions without symmetry.
TEST_P(two_particle, long_rows_and_parts_of_a_channel_are_sums_of_stored_functions) {
  const int window = 19;
  for (int bosonic : {0, 2, -3})
    for (int transfer = 0; transfer < sites; transfer += 3) {
      const int frequencies = vertex_channel::frequencies_needed(window, bosonic) + 1;
      const two_frequency functions(beta, momenta, frequencies, bath.at_frequencies(frequencies));
      const auto g = random_planes(functions);
      const reference::stored_functions exact{momenta, frequencies, {&g[0], &g[1]}};
      for (channel kind : {channel::pp, channel::magnetic, channel::charge}) {
        vertex_channel all(functions, kind, transfer, bosonic, window);
        measure(all, 0.5, g[0], g[1]);
        measure(all, -1.5, g[0], g[1]);
        std::vector<double> whole(all.size());
        all.flush(whole);
        std::size_t i = 0;
        double worst = 0;
        for (int k1 = 0; k1 < sites; ++k1)
          for (int k2 = 0; k2 < sites; ++k2)
            for (int a = -window; a < window; ++a)
              for (int b = -window; b < window; ++b, i += 2) {
                const auto value = -reference::product(exact, momenta, kind, k1, a, k2, b, transfer, bosonic);
                worst = std::max(worst, std::abs(value - reference::complex(whole[i], whole[i + 1])));
              }
        ASSERT_EQ(i, whole.size());
        ASSERT_LT(worst, 1e-5) << "kind " << int(kind) << " Q " << transfer << " m " << bosonic;
        for (int of : {2, 5, 3 * sites * sites}) {
          std::vector<float> direct(all.direct_size());
          all.measure_direct(g[0], g[1], direct);
          std::vector<double> joined;
          for (int part = 0; part < of; ++part) {
            vertex_channel part_sums(functions, kind, transfer, bosonic, window, {part, of});
            const packed_part read(part_sums, functions, g);
            for (const double weight : {0.5, -1.5}) part_sums.accumulate(weight, read.spin(0), read.spin(1), direct);
            std::vector<double> sum(part_sums.size());
            part_sums.flush(sum);
            std::ranges::copy(sum, std::back_inserter(joined));
          }
          ASSERT_EQ(joined, whole) << "kind " << int(kind) << " in " << of << " parts";
        }
      }
    }
}

TEST_P(two_particle, pairing_is_the_real_part_of_pp_at_zero_transfer_averaged_over_orbits) {
  const int window = 2, frequencies = 3;
  two_frequency functions(beta, cluster.momenta(), frequencies, bath.at_frequencies(frequencies));
  // (K, K') and (K', K) in one orbit.
  std::vector<int> orbit(sites * sites), members;
  for (int k1 = 0; k1 < sites; ++k1)
    for (int k2 = 0; k2 <= k1; ++k2) {
      orbit[k1 * sites + k2] = orbit[k2 * sites + k1] = int(members.size());
      members.push_back(k1 == k2 ? 1 : 2);
    }
  pairing measured(functions, orbit, window);
  const sample s = some_sample(1);
  const auto g = slow(frequencies, s);
  two_frequency::planes up, down;
  functions.prepare(s);
  functions.evaluate(s, 0, up);
  functions.evaluate(s, 1, down);
  measured.accumulate(s.sign, up, down);
  std::vector<double> sum(measured.size()), exact(measured.size());
  measured.flush(sum);
  for (int k1 = 0; k1 < sites; ++k1)
    for (int k2 = 0; k2 < sites; ++k2)
      for (int a = 0; a < window; ++a)
        for (int b = -window; b < window; ++b) {
          const int block = orbit[k1 * sites + k2];
          exact[(block * window + a) * 2 * window + b + window] +=
              s.sign * reference::product(g, momenta, channel::pp, k1, a, k2, b, 0, 0).real() / members[block];
        }
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(sum[i], exact[i], 1e-5) << i;
}

TEST_P(two_particle, parts_of_pairing_read_every_row_once) {
  const int window = 3, frequencies = 5;
  const two_frequency functions(beta, momenta, frequencies, bath.at_frequencies(frequencies));
  const auto g = random_planes(functions);
  std::vector<int> orbit(sites * sites);
  for (int i = 0; i < sites * sites; ++i) orbit[i] = i % (1 + sites);
  pairing all(functions, orbit, window);
  all.accumulate(2, g[0], g[1]);
  std::vector<double> whole(all.size());
  all.flush(whole);
  for (int of : {1, 3, 4 * window * (1 + sites)}) {
    std::vector<double> joined;
    std::size_t read = 0;
    for (int part = 0; part < of; ++part) {
      pairing part_sums(functions, orbit, window, {part, of});
      const packed_part rows(part_sums, functions, g);
      read += rows.size();
      part_sums.accumulate(2, rows.spin(0), rows.spin(1));
      std::vector<double> sum(part_sums.size());
      part_sums.flush(sum);
      std::ranges::copy(sum, std::back_inserter(joined));
    }
    EXPECT_EQ(joined, whole) << of << " parts";
    EXPECT_EQ(read, std::size_t(sites) * sites * window * 2 * frequencies);
  }
}

TEST(channel_named, knows_three_channels) {
  EXPECT_EQ(channel_named("pp"), channel::pp);
  EXPECT_EQ(channel_named("magnetic"), channel::magnetic);
  EXPECT_EQ(channel_named("charge"), channel::charge);
  EXPECT_THROW(channel_named("transverse"), plaq::input_error);
}
