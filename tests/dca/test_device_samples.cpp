// Measurements of a chain on a device, one by one on the host, against those of the workers and the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "host_chain.hpp"
#include "plaq/dca/device/measure.hpp"
#include "plaq/dca/device/measurement_tables.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/dca/walk/fill.hpp"
#include "plaq/dca/walk/neighbours.hpp"

namespace plaq::dca::device {
namespace {

const std::vector<channel_request> some_channels = {{channel::magnetic, 1, 0},
                                                    {channel::pp, 3, -1},
                                                    {channel::charge, 0, 1},
                                                    {channel::pp, 0, 0},
                                                    {channel::charge, 3, -1}};

/// Sample on the device beside that of the workers.
struct device_samples : device_kernels {
  device_samples() {
    *p = *some_problem(true, some_channels);
    p->model.parameters = model.parameters;
    p->model.g0 = model.g0;
    tables = std::make_unique<measurement_tables>(*p, gpu::device{});
    measurement_sizes sizes = tables->rules().sizes;
    memory.resize(allocate_measurement(r, nullptr, sizes, host_chain::capacity));
    allocate_measurement(r, memory.data(), sizes, host_chain::capacity);
    EXPECT_TRUE(m.recompute());
    const auto n = model.n(some_vertices);
    fill<double>(
        expected, model.parameters, {some_vertices, m.sign}, [](int i) { return i; },
        [&](int side, int slot) { return n[std::size_t(side)].column(slot); });
  }

  void expect_same(const measured_sample<team>& s, const sample& other, double tolerance) {
    ASSERT_EQ(s.order, other.order());
    EXPECT_EQ(s.sign, other.sign);
    for (int q = 0; q < s.order; ++q) EXPECT_EQ(r.tau[q], other.tau[std::size_t(q)]);
    for (std::size_t x = 0; x < other.first.size(); ++x) EXPECT_EQ(r.first[x], other.first[x]);
    for (int side = 0; side < 2; ++side)
      for (int q = 0; q < s.order; ++q) {
        const auto at = std::size_t(q);
        EXPECT_NEAR(r.strength[side][q], other.strength[side][at], 1e-12 * (1 + std::abs(other.strength[side][at])));
        EXPECT_NEAR(r.diagonal[side][q], other.n_diagonal[side][at],
                    tolerance * (1 + std::abs(other.n_diagonal[side][at])));
        for (int k = 0; k < s.order; ++k)
          EXPECT_NEAR(s.m(side, k, q), other.m[side](k, q), tolerance * (1 + std::abs(other.m[side](k, q))));
      }
  }

  std::shared_ptr<problem> p = std::make_shared<problem>();
  std::unique_ptr<measurement_tables> tables;
  measurement_workspace r;
  std::vector<std::byte> memory;
  sample expected;
};
INSTANTIATE_TEST_SUITE_P(K, device_samples, testing::Values(1., -5.),
                         [](const auto& K) { return K.param > 0 ? "positive" : "negative"; });

TEST_P(device_samples, are_those_of_the_workers) {
  const auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
  expect_same(s, expected, 1e-6);
  EXPECT_EQ(s.weight(), s.sign);
}

TEST_P(device_samples, have_the_weight_of_multiple_importance_sampling) {
  auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
  s.compute_mis_weight();
  EXPECT_NEAR(s.mis_weight, mis_weight(expected), 1e-12);
  m.order = 0;
  auto none = measured_sample<team>::from_walk(m, tables->rules(), r);
  none.compute_mis_weight();
  EXPECT_EQ(none.mis_weight, 1);
}

TEST_P(device_samples, flip_like_those_of_the_workers) {
  for (int vertex = 0; vertex < 5; ++vertex) {
    auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
    s.flip(vertex);
    sample flipped;
    flip(expected, vertex, flipped);
    expect_same(s, flipped, 1e-5);
  }
}

TEST_P(device_samples, have_the_two_frequency_function_of_the_workers) {
  const auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
  prepare_two_frequency(s);
  const int F = p->measured.two_particle_frequencies;
  two_frequency functions(model.parameters.beta, p->model.momenta, F, p->measured.g0_frequency);
  two_frequency::planes g;
  functions.prepare(expected);
  for (int side = 0; side < 2; ++side) {
    compute_two_frequency(s, side, tables->g0(0));
    functions.evaluate(expected, side, g);
    ASSERT_EQ(g.re.size(), tables->rules().sizes.plane());
    for (std::size_t i = 0; i < g.re.size(); ++i) {
      EXPECT_NEAR(r.g[side][i].re, g.re[i], 1e-5) << i;
      EXPECT_NEAR(r.g[side][i].im, g.im[i], 1e-5) << i;
    }
    const green_view view{r.g[side], r.across[side], 4, F, tables->rules().minus};
    const reference::stored_functions stored{p->model.momenta, F, {&g, &g}};
    for (int K = 0; K < 4; ++K)
      for (int Q = 0; Q < 4; ++Q)
        for (int n = -F; n < F; ++n)
          for (int mm = -F; mm < F; ++mm) {
            const std::complex<double> exact = stored(0, K, n, Q, mm);
            for (const number value : {view(K, n, Q, mm), view.by_columns(K, n, Q, mm)}) {
              EXPECT_NEAR(value.re, exact.real(), 1e-5);
              EXPECT_NEAR(value.im, exact.imag(), 1e-5);
            }
          }
  }
}

TEST(number, multiplies_like_a_complex_number) {
  const number x{2, -3}, y{-5, 7}, sum{11, 13};
  const std::complex<float> product = std::complex<float>{2, -3} * std::complex<float>{-5, 7};
  const number out = add_product(sum, x, y);
  EXPECT_EQ(out.re, 11 + product.real());
  EXPECT_EQ(out.im, 13 + product.imag());
  EXPECT_EQ(x.conjugate().re, 2);
  EXPECT_EQ(x.conjugate().im, 3);
}

// Sums
// ---------------------------------------------------------------------------------------------------------------------

TEST_P(device_samples, add_M_to_the_sums_like_the_workers) {
  auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
  s.mis_weight = expected.mis_weight = 0.7;
  single_particle slow(model.parameters.beta, 4, p->measured.odd_frequencies, p->model.difference);
  slow.accumulate(expected);
  std::vector<double> wanted(slow.size(), 2.), sums(slow.size(), 2.);
  slow.flush(wanted);
  prepare_single_particle(s);
  measure_single_particle(s, sums.data());
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i], wanted[i], 1e-4 * (1 + std::abs(wanted[i]))) << i;
}

TEST_P(device_samples, add_correlations_to_the_sums_like_the_workers) {
  using measures::two_point;
  auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
  s.mis_weight = expected.mis_weight = 0.3;
  const stream_id times = streams::of(p->rules, streams::measurement_times, 2, 1);
  green_at_times g(model.g0);
  g.evaluate(expected, random_words(times, 6));
  measures::density density;
  measures::double_occupancy double_occupancy;
  measures::equal_time_correlation<two_point::spin> spin(4);
  measures::equal_time_correlation<two_point::charge> charge(4);
  measures::static_correlation<two_point::spin> static_spin(4);
  measures::static_correlation<two_point::charge> static_charge(4);
  measures::equal_time_green equal_time(4);
  std::vector<double> wanted;
  for (auto [measurement, size] : std::vector<std::pair<measures::measurement*, std::size_t>>{{&density, 1},
                                                                                              {&double_occupancy, 1},
                                                                                              {&spin, 4},
                                                                                              {&charge, 4},
                                                                                              {&static_spin, 4},
                                                                                              {&static_charge, 4},
                                                                                              {&equal_time, 4}}) {
    measurement->accumulate(g, expected.weight());
    std::vector<double> sum(size);
    measurement->flush(sum);
    wanted.insert(wanted.end(), sum.begin(), sum.end());
  }
  std::vector<double> sums(wanted.size(), 5.);
  correlations<team>(s, m.g0, times, 6).measure(s, sums.data());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    EXPECT_NEAR(sums[i] - 5, wanted[i], 1e-4 * (1 + std::abs(wanted[i]))) << i;
    EXPECT_NEAR(r.increments[i], wanted[i], 1e-4 * (1 + std::abs(wanted[i]))) << i;
  }
}

TEST_P(device_samples, add_the_product_of_every_channel) {
  auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
  s.mis_weight = 0.6;
  prepare_two_frequency(s);
  for (int side = 0; side < 2; ++side) compute_two_frequency(s, side, tables->g0(0));
  const int F = p->measured.two_particle_frequencies, window = p->measured.window;
  two_frequency functions(model.parameters.beta, p->model.momenta, F, p->measured.g0_frequency);
  two_frequency::planes g[2];
  functions.prepare(expected);
  for (int side = 0; side < 2; ++side) functions.evaluate(expected, side, g[side]);
  const reference::stored_functions exact{p->model.momenta, F, {&g[0], &g[1]}};
  std::vector<float> sums(tables->rules().sizes.functions_size());
  two_particle<team>(s).measure(sums.data());
  const float* next = sums.data() + tables->rules().sizes.pairing_size();
  for (const channel_request& c : some_channels)
    for (int K = 0; K < 4; ++K)
      for (int Q = 0; Q < 4; ++Q)
        for (int a = -window; a < window; ++a)
          for (int b = -window; b < window; ++b, next += 2) {
            const auto value =
                s.weight() * reference::product(exact, p->model.momenta, c.kind, K, a, Q, b, c.transfer, c.bosonic);
            ASSERT_NEAR(next[0], value.real(), 1e-4 * (1 + std::abs(value))) << int(c.kind) << " " << c.transfer;
            ASSERT_NEAR(next[1], value.imag(), 1e-4 * (1 + std::abs(value))) << int(c.kind) << " " << c.transfer;
          }
  EXPECT_EQ(next, sums.data() + sums.size());
}

TEST_P(device_samples, add_the_mean_over_each_orbit_to_pairing) {
  const auto s = measured_sample<team>::from_walk(m, tables->rules(), r);
  prepare_two_frequency(s);
  for (int side = 0; side < 2; ++side) compute_two_frequency(s, side, tables->g0(0));
  const int F = p->measured.two_particle_frequencies, window = p->measured.window;
  const green_view up{r.g[0], r.across[0], 4, F, tables->rules().minus};
  const green_view down{r.g[1], r.across[1], 4, F, tables->rules().minus};
  std::vector<double> wanted(tables->rules().sizes.pairing_size());
  for (int orbit = 0; orbit < 5; ++orbit) {
    const auto members = double(std::ranges::count(p->measured.orbit, orbit));
    for (int pair = 0; pair < 16; ++pair)
      if (p->measured.orbit[std::size_t(pair)] == orbit)
        for (int a = 0; a < window; ++a)
          for (int b = -window; b < window; ++b) {
            const number u = up(pair / 4, a, pair % 4, b), d = down(pair / 4, a, pair % 4, b);
            wanted[std::size_t((orbit * window + a) * 2 * window + b + window)] +=
                s.weight() * (double(u.re) * d.re + double(u.im) * d.im) / members;
          }
  }
  std::vector<float> sums(tables->rules().sizes.functions_size());
  two_particle<team>(s).measure(sums.data());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(sums[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i])));
}

/// Sums of a bin on the device, in memory of the host.
struct device_bins : device_samples {
  std::vector<double> measured(int count) {
    std::vector<double> sums(total_size(layout_of(4, p->measured)));
    std::vector<float> functions(tables->rules().sizes.functions_size()), series(std::size_t(count) * series_width);
    measurement_state to{};
    to.workspace = memory.data();
    to.sums = sums.data();
    to.functions = functions.data();
    to.series = series.data();
    to.g0 = tables->g0(0);
    to.times = streams::of(p->rules, streams::measurement_times, 0, 0);
    to.neighbours = streams::of(p->rules, streams::neighbours, 0, 0);
    for (int i = 0; i < count; ++i) measure(m, tables->rules(), to);
    EXPECT_EQ(to.done, count);
    since_flush = to.since_flush;
    flush(serial, tables->rules(), to);
    for (const float x : functions) EXPECT_EQ(x, 0) << "restarts from 0";
    return sums;
  }
  team serial;
  int since_flush = 0;
};
INSTANTIATE_TEST_SUITE_P(K, device_bins, testing::Values(1., -5.),
                         [](const auto& K) { return K.param > 0 ? "positive" : "negative"; });

TEST_P(device_bins, are_those_of_the_accumulator) {
  accumulator slow(p->model, p->measured, p->rules, 0);
  slow.begin_bin(0);
  for (std::uint64_t i = 0; i < 3; ++i) {
    expected.index = i;
    slow.accumulate(expected);
  }
  const auto wanted = slow.end_bin().sums, sums = measured(3);
  ASSERT_EQ(sums.size(), wanted.size());
  for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i], wanted[i], 2e-4 * (1 + std::abs(wanted[i]))) << i;
}

TEST_P(device_bins, count_a_configuration_without_vertices_once) {
  m.order = 0;
  m.sign = 1;
  const auto sums = measured(2);
  const measurement_rules& rules = tables->rules();
  EXPECT_EQ(sums[rules.sign], 2);
  EXPECT_EQ(sums[rules.order], 0);
  EXPECT_EQ(sums[rules.weight], 2) << "there is no neighbour";
  EXPECT_EQ(sums[rules.histogram], 2);
  const double hole = (*model.g0)(0, 0., 0, 0.);
  EXPECT_NEAR(sums[rules.correlations], 2 * 2 * (1 - hole), 1e-6) << "density of the bath";
  EXPECT_NEAR(sums[rules.correlations + 1], 2 * (1 - hole) * (1 - hole), 1e-6);
  EXPECT_EQ(since_flush, 2);
}

TEST_P(device_bins, count_two_configurations_of_a_measurement_with_vertices) {
  const auto sums = measured(1);
  EXPECT_EQ(since_flush, 2);
  EXPECT_EQ(sums[tables->rules().histogram + 5], 1) << "five vertices";
  EXPECT_EQ(sums[tables->rules().order], 5 * m.sign);
}

}  // namespace
}  // namespace plaq::dca::device
