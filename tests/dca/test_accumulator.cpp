// The accumulator against its measurements, called one by one on the same configurations.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/random.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/dca/walk/neighbours.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "small_problem.hpp"

namespace plaq::dca {
namespace {

constexpr std::uint32_t chain = 3;
constexpr std::uint64_t bin = 2;

/// Plaquette with all kinds of measurements, and samples of a walk through it.
struct accumulators : testing::Test {
  std::shared_ptr<problem> p = some_problem(true, {{channel::pp, 1, 1}, {channel::magnetic, 3, 0}});
  int sites = p->model.parameters.sites;
  bin_layout layout = layout_of(sites, p->measured);

  std::vector<sample> walked(int count) const {
    walker<double> w(p->model.parameters, p->model.g0, 16);
    w.reset({});
    std::vector<sample> out(static_cast<std::size_t>(count));
    for (int m = 0; m < count; ++m) {
      w.propose({11, 1, 0, 0, 0, 0}, std::uint64_t(40 * m), 40);
      w.fill(out[std::size_t(m)]);
      out[std::size_t(m)].index = std::uint64_t(m);
    }
    return out;
  }
  sample empty() const {
    walker<double> w(p->model.parameters, p->model.g0, 16);
    w.reset({});
    sample out;
    w.fill(out);
    return out;
  }
  accumulator make(two_particle_sink* sink = nullptr) const { return {p->model, p->measured, p->rules, chain, sink}; }
  bin_result measure(std::vector<sample> samples, std::uint64_t number = bin) const {
    accumulator a = make();
    a.begin_bin(number);
    for (sample& s : samples) a.accumulate(s);
    return a.end_bin();
  }
  std::vector<double> array(const bin_result& b, const char* name) const {
    const bin_array& a = array_named(layout, name);
    const auto first = b.sums.begin() + std::ptrdiff_t(a.offset);
    return {first, first + std::ptrdiff_t(a.size())};
  }
  double value(const bin_result& b, const char* name) const { return array(b, name).at(0); }
  /// The neighbour that is measured with a sample, and the weights of both.
  std::vector<sample> both(sample s) const {
    s.mis_weight = mis_weight(s);
    if (s.order() == 0) return {s};
    const auto words = random_words(streams::of(p->rules, streams::neighbours, chain, bin), s.index);
    sample neighbour;
    flip(s, int(below(words[0], s.order())), neighbour);
    neighbour.mis_weight = mis_weight(neighbour);
    return {s, neighbour};
  }
  green_at_times green(const sample& s) const {
    green_at_times out(p->model.g0);
    out.evaluate(s, random_words(streams::of(p->rules, streams::measurement_times, chain, bin), s.index));
    return out;
  }
};

void expect_near(const std::vector<double>& fast, const std::vector<double>& slow, const char* name) {
  ASSERT_EQ(fast.size(), slow.size());
  for (std::size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], slow[i], 1e-9 * (1 + std::abs(slow[i]))) << name;
}

TEST_F(accumulators, count_sign_order_and_histogram_of_the_walk_alone) {
  const auto samples = walked(20);
  const bin_result b = measure(samples);
  double sign = 0, order = 0;
  std::vector<double> histogram(50);
  for (const sample& s : samples) {
    sign += s.sign;
    order += s.sign * s.order();
    histogram.at(std::size_t(s.order())) += 1;
  }
  EXPECT_EQ(value(b, "sign"), sign);
  EXPECT_EQ(value(b, "order"), order);
  EXPECT_EQ(array(b, "histogram"), histogram);
}

TEST_F(accumulators, count_all_high_orders_in_the_last_element_of_the_histogram) {
  p->measured.histogram_size = 3;
  layout = layout_of(sites, p->measured);
  const auto samples = walked(20);
  std::vector<double> histogram(3);
  for (const sample& s : samples) histogram[std::size_t(std::min(s.order(), 2))] += 1;
  EXPECT_GT(histogram[2], 10);
  EXPECT_EQ(array(measure(samples), "histogram"), histogram);
}

TEST_F(accumulators, sum_the_weights_of_configurations_and_neighbours) {
  double weight = 0;
  for (const sample& s : walked(20))
    for (const sample& measured : both(s)) weight += measured.weight();
  EXPECT_NEAR(value(measure(walked(20)), "weight"), weight, 1e-12);
}

TEST_F(accumulators, set_the_weight_of_the_sample_that_they_measure) {
  auto samples = walked(3);
  accumulator a = make();
  a.begin_bin(bin);
  for (sample& s : samples) {
    const double expected = mis_weight(s);
    a.accumulate(s);
    EXPECT_EQ(s.mis_weight, expected);
    EXPECT_LT(s.mis_weight, 1);
  }
}

TEST_F(accumulators, measure_M_of_configurations_and_neighbours) {
  single_particle slow(p->model.parameters.beta, sites, p->measured.odd_frequencies, p->model.difference);
  for (const sample& s : walked(12))
    for (const sample& measured : both(s)) slow.accumulate(measured);
  std::vector<double> expected(slow.size());
  slow.flush(expected);
  expect_near(array(measure(walked(12)), "single_particle"), expected, "M");
}

TEST_F(accumulators, measure_every_correlation_of_configurations_and_neighbours) {
  using measures::two_point;
  measures::density density;
  measures::double_occupancy double_occupancy;
  measures::equal_time_correlation<two_point::spin> spin(sites);
  measures::equal_time_correlation<two_point::charge> charge(sites);
  measures::static_correlation<two_point::spin> static_spin(sites);
  measures::static_correlation<two_point::charge> static_charge(sites);
  measures::equal_time_green equal_time(sites);
  const std::vector<std::pair<const char*, measures::measurement*>> list = {
      {"density", &density},      {"double_occupancy", &double_occupancy}, {"spin", &spin},
      {"charge", &charge},        {"static_spin", &static_spin},           {"static_charge", &static_charge},
      {"equal_time", &equal_time}};
  for (const sample& s : walked(12))
    for (const sample& measured : both(s))
      for (const auto& [name, measurement] : list) measurement->accumulate(green(measured), measured.weight());
  const bin_result b = measure(walked(12));
  for (const auto& [name, measurement] : list) {
    std::vector<double> expected(array_named(layout, name).size());
    measurement->flush(expected);
    expect_near(array(b, name), expected, name);
  }
}

TEST_F(accumulators, measure_two_particle_functions_of_configurations_and_neighbours) {
  two_frequency functions(p->model.parameters.beta, p->model.momenta, p->measured.two_particle_frequencies,
                          p->measured.g0_frequency);
  two_particle_sums slow(p->measured, functions);
  slow.begin_bin();
  for (const sample& s : walked(12))
    for (const sample& measured : both(s)) {
      two_frequency::planes up, down;
      functions.prepare(measured);
      functions.evaluate(measured, 0, up);
      functions.evaluate(measured, 1, down);
      slow.accumulate(measured.weight(), up, down, slow.measure_direct(up, down));
    }
  const auto expected = slow.end_bin();
  const bin_result b = measure(walked(12));
  ASSERT_GE(b.sums.size(), expected.size());
  EXPECT_EQ(std::vector(b.sums.end() - std::ptrdiff_t(expected.size()), b.sums.end()), expected);
  EXPECT_EQ(array(b, "pairing").front(), expected.front());
}

TEST_F(accumulators, list_the_values_of_the_walk_times_the_sign_in_the_series) {
  const auto samples = walked(10);
  const bin_result b = measure(samples);
  ASSERT_EQ(b.series.size(), samples.size());
  for (std::size_t m = 0; m < samples.size(); ++m) {
    const sample& s = samples[m];
    const green_at_times g = green(s);
    measures::density density;
    measures::double_occupancy double_occupancy;
    measures::equal_time_correlation<measures::two_point::spin> spin(sites);
    measures::equal_time_correlation<measures::two_point::charge> charge(sites);
    density.accumulate(g, s.sign);
    double_occupancy.accumulate(g, s.sign);
    spin.accumulate(g, s.sign);
    charge.accumulate(g, s.sign);
    const double expected[] = {
        s.sign, double(s.order()), density.last(), double_occupancy.last(), spin.last_square(), charge.last_square()};
    for (std::size_t i = 0; i < series_columns.size(); ++i)
      EXPECT_NEAR(b.series[m][i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << series_columns[i] << " of " << m;
  }
}

TEST_F(accumulators, measure_a_configuration_without_vertices_once) {
  const bin_result b = measure({empty()});
  EXPECT_EQ(value(b, "sign"), 1);
  EXPECT_EQ(value(b, "weight"), 1);
  EXPECT_EQ(array(b, "histogram")[0], 1);
  EXPECT_EQ(array(b, "single_particle"), std::vector<double>(array_named(layout, "single_particle").size()));
}

TEST_F(accumulators, draw_times_and_neighbours_anew_in_every_bin) {
  const bin_result first = measure(walked(8), 0), again = measure(walked(8), 0), second = measure(walked(8), 1);
  EXPECT_EQ(first.sums, again.sums);
  EXPECT_NE(array(first, "static_spin"), array(second, "static_spin")) << "other times";
  EXPECT_NE(array(first, "single_particle"), array(second, "single_particle")) << "other neighbours";
  EXPECT_EQ(array(first, "histogram"), array(second, "histogram")) << "the walk is the same";
}

TEST_F(accumulators, begin_every_bin_at_zero) {
  accumulator a = make();
  std::vector<std::vector<double>> bins;
  for (int repeat = 0; repeat < 2; ++repeat) {
    a.begin_bin(bin);
    for (sample& s : walked(5)) a.accumulate(s);
    bins.push_back(a.end_bin().sums);
  }
  EXPECT_EQ(bins[0], bins[1]);
}

TEST_F(accumulators, discard_every_sum_of_an_abandoned_bin) {
  accumulator a = make();
  a.begin_bin(0);
  for (sample& s : walked(4)) a.accumulate(s);
  a.begin_bin(bin);
  for (sample& s : walked(5)) a.accumulate(s);
  const bin_result after = a.end_bin(), alone = measure(walked(5));
  for (const bin_array& each : layout) EXPECT_EQ(array(after, each.name.c_str()), array(alone, each.name.c_str()));
  EXPECT_EQ(after.series, alone.series);
}

TEST_F(accumulators, recover_from_an_abandoned_bin_that_was_not_finite) {
  accumulator a = make();
  a.begin_bin(0);
  auto samples = walked(2);
  samples[1].m[1](0, 0) = std::nanf("");
  for (sample& s : samples) a.accumulate(s);
  a.begin_bin(bin);
  for (sample& s : walked(3)) a.accumulate(s);
  EXPECT_EQ(a.end_bin().sums, measure(walked(3)).sums);
}

TEST_F(accumulators, name_the_chain_that_measured_a_value_that_is_not_finite) {
  auto samples = walked(2);
  samples[1].m[0](0, 0) = std::nanf("");
  try {
    measure(samples);
    FAIL();
  } catch (const runtime_failure& e) {
    EXPECT_NE(std::string(e.what()).find("chain 3"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(check_finite({{1., -2.}, {}}, 3));
  EXPECT_THROW(check_finite({{1., HUGE_VAL}, {}}, 3), runtime_failure);
}

/// Sink that records its calls.
struct recorder final : two_particle_sink {
  void accumulate(double weight, const two_frequency::planes& up, const two_frequency::planes& down) override {
    weights.push_back(weight);
    numbers.push_back(up.re.size() + down.im.size());
  }
  void begin_bin() override { calls += 'b'; }
  void end_bin() override { calls += 'e'; }
  double waiting_seconds() const override { return 7; }

  std::string calls;
  std::vector<double> weights;
  std::vector<std::size_t> numbers;
};

TEST_F(accumulators, give_a_sink_the_functions_of_configurations_and_neighbours) {
  recorder sink;
  accumulator a = make(&sink);
  a.begin_bin(bin);
  std::vector<double> weights;
  for (sample& s : walked(6)) {
    for (const sample& measured : both(s)) weights.push_back(measured.weight());
    a.accumulate(s);
  }
  const bin_result b = a.end_bin();
  EXPECT_EQ(sink.calls, "be");
  EXPECT_EQ(sink.weights, weights);
  const auto numbers =
      std::size_t(2 * sites * sites * 2 * p->measured.two_particle_frequencies * p->measured.two_particle_frequencies);
  for (const std::size_t size : sink.numbers) EXPECT_EQ(size, numbers);
  EXPECT_EQ(b.sums.size(), total_size(layout) - total_size(two_particle_layout(sites, p->measured)));
  const auto whole = measure(walked(6)).sums;
  EXPECT_EQ(b.sums, std::vector(whole.begin(), whole.begin() + std::ptrdiff_t(b.sums.size())));
  EXPECT_EQ(a.waiting_seconds(), 7);
  EXPECT_EQ(make().waiting_seconds(), 0);
}

TEST_F(accumulators, measure_no_two_particle_functions_unless_they_are_asked_for) {
  const auto whole = measure(walked(4)).sums;
  p->measured.pairing = false;
  p->measured.channels.clear();
  layout = layout_of(sites, p->measured);
  const auto sums = measure(walked(4)).sums;
  EXPECT_EQ(sums.size(), total_size(layout));
  EXPECT_EQ(sums, std::vector(whole.begin(), whole.begin() + std::ptrdiff_t(sums.size())));
}

}  // namespace
}  // namespace plaq::dca
