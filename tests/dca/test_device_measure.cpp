#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/dca/device/accumulator.hpp"
#include "plaq/dca/device/advance.hpp"
#include "plaq/dca/device/chain_devices.hpp"
#include "plaq/dca/device/walker.hpp"
#include "plaq/dca/measure/accumulator.hpp"
#include "plaq/dca/streams.hpp"
#include "plaq/gpu/host_team.hpp"
#include "small_problem.hpp"

using namespace plaq::dca;

namespace {

// Transfers and bosonic indices of either sign, and all channels.
std::shared_ptr<problem> all_measured(torus cluster) {
  const int q = cluster.size() - 1;
  auto p = some_problem(true,
                        {{channel::pp, q, 0},
                         {channel::pp, 0, -1},
                         {channel::magnetic, 0, 0},
                         {channel::magnetic, q, 1},
                         {channel::charge, q, -1}},
                        cluster);
  for (int& orbit : p->measured.orbit) orbit = std::min(orbit, cluster.size() * cluster.size() - 1);
  p->measured.histogram_size = 12;
  return p;
}

plaq::stream_id stream(const problem& p, std::uint32_t purpose) { return streams::of(p.rules, purpose, 3, 0); }

std::vector<plaq::gpu::device> places() {
  std::vector<plaq::gpu::device> out{{plaq::gpu::device::host}};
  if (!plaq::gpu::find_devices().gpus.empty()) out.push_back({0});
  return out;
}

struct device_measure : testing::TestWithParam<torus> {};
INSTANTIATE_TEST_SUITE_P(clusters, device_measure, testing::Values(torus{2, 2}, torus{3, 1}, torus{3, 2}, torus{1, 1}));

// Every array in units of its largest element.
void expect_near(const bin_layout& layout, const bin_result& found, const bin_result& expected, double tolerance) {
  ASSERT_EQ(found.sums.size(), expected.sums.size());
  for (const bin_array& a : layout) {
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(expected.sums[a.offset + i]));
    EXPECT_GT(largest, 0) << a.name;
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(found.sums[a.offset + i], expected.sums[a.offset + i], tolerance * largest) << a.name << " " << i;
  }
  ASSERT_EQ(found.series.size(), expected.series.size());
  for (std::size_t m = 0; m < found.series.size(); ++m)
    for (std::size_t i = 0; i < found.series[m].size(); ++i)
      ASSERT_NEAR(found.series[m][i], expected.series[m][i], 1e-4 * (1 + std::abs(expected.series[m][i])))
          << series_columns[i] << " of " << m;
}

}  // namespace

TEST_P(device_measure, is_that_of_the_accumulator_in_the_same_configurations) {
  const auto p = all_measured(GetParam());
  const bool small = GetParam().size() == 1;
  if (small) p->model.parameters.K = p->model.parameters.U = 0.2;  // so that there are no vertices now and then
  const bin_layout layout = layout_of(p->model.parameters.sites, p->measured);
  for (const plaq::gpu::device at : places()) {
    device::chain_device where(*p, at);
    device::walker walk(where, 3, true);
    device::accumulator there(where, p->rules, 3);
    accumulator here(p->model, p->measured, p->rules, 3);
    for (std::uint64_t bin = 0; bin < 2; ++bin) {
      walk.begin({}, stream(*p, streams::moves), stream(*p, streams::worms));
      there.begin_bin(bin);
      here.begin_bin(bin);
      sample s;
      int empty = 0, largest = 0;
      for (int m = 0; m < p->rules.measurements_per_bin; ++m) {
        walk.measurements(1, there);
        walk.fill(s);
        s.index = std::uint64_t(m);
        empty += s.order() == 0;
        largest = std::max(largest, s.order());
        here.accumulate(s);
      }
      EXPECT_GT(largest, small ? 0 : 5);
      EXPECT_TRUE(empty > 0 || !small);
      expect_near(layout, there.end_bin(), here.end_bin(), 3e-6);
    }
  }
}

TEST_P(device_measure, in_launches_of_any_length_has_the_same_bits) {
  const auto p = all_measured(GetParam());
  const auto bin_of = [&](int together) {
    device::chain_device where(*p, {});
    device::walker walk(where, 3, true);
    device::accumulator there(where, p->rules, 3);
    there.begin_bin(0);
    walk.begin({}, stream(*p, streams::moves), stream(*p, streams::worms));
    for (int left = p->rules.measurements_per_bin; left > 0; left -= together)
      walk.measurements(std::min(left, together), there);
    return there.end_bin();
  };
  const bin_result one = bin_of(1), many = bin_of(25);
  EXPECT_EQ(one.sums, many.sums);
  EXPECT_EQ(one.series, many.series);
}

// The kernel itself, in memory of the host, on teams of several threads.
TEST_P(device_measure, of_any_number_of_threads_has_the_same_bits) {
  const auto p = all_measured(GetParam());
  p->rules.measurements_per_bin = 6;
  p->rules.sweeps_per_measurement = 2;
  const device::measurement_tables tables(*p, {});
  const g0_table& g0 = *p->model.g0;
  constexpr int capacity = 64, block_length = 8;
  const vertex_strength strength(p->model.parameters);
  const device::walk_rules rules{3, 1, g0.sites(), {strength(1, 1), strength(1, -1)}, block_length, 8, 2, 2, 5};
  const auto bits = [&](int threads) {
    device::vertex_arrays r;
    device::measurement_workspace space;
    std::vector<std::byte> vertices(allocate_vertices(r, nullptr, capacity)),
        scratch(device::scratch_bytes(capacity, block_length)),
        memory(allocate_measurement(space, nullptr, tables.rules().sizes, capacity));
    std::vector<double> sums(total_size(layout_of(g0.sites(), p->measured)));
    std::vector<float> functions(tables.rules().sizes.functions_size()), series(6 * series_columns.size());
    device::chain c{};
    c.g0 = {g0.beta(),     g0.segments() / g0.beta(), g0.sites(),
            g0.segments(), g0.coefficients().data(),  g0.difference().data()};
    c.g_equal = g0(0, 0., 0, 0.);
    c.proposals = stream(*p, streams::moves);
    c.worms = stream(*p, streams::worms);
    c.vertices = vertices.data();
    c.scratch = scratch.data();
    c.capacity = capacity;
    c.target_sweeps = 2;
    c.measured = {6,
                  0,
                  0,
                  memory.data(),
                  sums.data(),
                  functions.data(),
                  series.data(),
                  tables.g0(0),
                  stream(*p, streams::measurement_times),
                  stream(*p, streams::neighbours)};
    if (threads == 0) {
      plaq::gpu::serial_team team;
      advance(team, rules, tables.rules(), c, {});
    } else {
      plaq::gpu::thread_team::run(threads,
                                  [&](plaq::gpu::thread_team& team) { advance(team, rules, tables.rules(), c, {}); });
    }
    EXPECT_EQ(c.state.status, device::walk_status::done);
    EXPECT_EQ(c.state.sweeps, 12);
    EXPECT_EQ(c.measured.done, 6);
    EXPECT_EQ(sums[tables.rules().sign], 6);
    sums.insert(sums.end(), series.begin(), series.end());
    return sums;
  };
  const auto alone = bits(0);
  for (const int threads : {1, 2, 3}) EXPECT_EQ(bits(threads), alone) << threads << " threads";
}

TEST(device_measurements, stops_at_what_is_not_finite_and_at_bins_that_ended_early) {
  const auto p = all_measured({2, 1});
  p->rules.measurements_per_bin = 2;
  p->measured.g0_frequency[0] = std::nan("");
  device::chain_device where(*p, {});
  device::walker walk(where, 0, true);
  device::accumulator there(where, p->rules, 0);
  walk.begin({}, stream(*p, streams::moves), stream(*p, streams::worms));
  there.begin_bin(0);
  walk.measurements(1, there);
  EXPECT_THROW(there.end_bin(), plaq::runtime_failure);
  walk.measurements(1, there);
  EXPECT_THROW(there.end_bin(), plaq::runtime_failure);
}

TEST(device_measurements, has_as_many_chains_as_multiprocessors_and_memory_allow) {
  EXPECT_EQ(device::chains_at_once(132, 80'000'000'000, 1'000'000), 264);
  EXPECT_EQ(device::chains_at_once(132, 80'000'000'000, 1'000'000'000), 80);
  EXPECT_EQ(device::chains_at_once(132, 80'000'000'000, 81'000'000'000), 0);
  const auto p = all_measured({2, 2});
  const device::chain_devices one(*p, {{}}, 1), two(*p, {{}, {}}, 1), none(*p, {}, 1);
  EXPECT_GT(one.chains(), 1);
  EXPECT_EQ(two.chains(), 2 * one.chains());
  EXPECT_TRUE(none.empty());
  EXPECT_THROW(device::chain_devices(*p, {{}}, 1'000'000'000), plaq::runtime_failure);  // of one memory
}

TEST(device_measurements, of_a_chain_goes_where_most_places_are_free) {
  const auto p = all_measured({1, 1});
  device::chain_devices two(*p, {{}, {}}, 1);
  const device::chain_devices::reservation first(two), second(two);
  EXPECT_NE(&*first, &*second);
  {
    const device::chain_devices::reservation third(two);
    EXPECT_EQ(&*third, &*first);
    const device::chain_devices::reservation fourth(two);
    EXPECT_EQ(&*fourth, &*second);
  }
  const device::chain_devices::reservation fifth(two);
  EXPECT_EQ(&*fifth, &*first);
}

TEST(device_measurements, needs_the_bytes_that_are_planned) {
  // One array of a workspace has more bytes than this: G(k, k') of one spin and of all the sums in single precision.
  const auto p = all_measured({2, 2});
  const device::measurement_sizes s = device::sizes_of(4, p->measured);
  EXPECT_EQ(s.functions_size(), total_size(two_particle_layout(4, p->measured)));
  const std::size_t few = device::chain_bytes(s, 64, 16, 66), many = device::chain_bytes(s, 128, 16, 66);
  EXPECT_GT(few, 12 * s.functions_size() + 4 * 8 * s.plane() + 4 * 8 * 64 * 64);
  EXPECT_GT(many, few + 3 * (4 * 8 + 2 * 4) * 64 * 64);
  device::chain_device where(*p, {});
  device::accumulator there(where, p->rules, 0);
  there.begin_bin(0);
  there.state.done = p->rules.measurements_per_bin;
  EXPECT_EQ(there.end_bin().sums.size(), total_size(layout_of(4, p->measured)));
}
