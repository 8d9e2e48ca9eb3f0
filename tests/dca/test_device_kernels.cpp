// Kernels of a chain on a device, one by one on the host, against the workers' code and the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "exact_weights.hpp"
#include "plaq/base/error.hpp"
#include "plaq/dca/device/measurement_tables.hpp"
#include "plaq/dca/device/two_frequency.hpp"
#include "plaq/dca/measure/two_particle_sums.hpp"
#include "plaq/dca/walk/fill.hpp"
#include "plaq/dca/walk/neighbours.hpp"
#include "plaq/gpu/team.hpp"

namespace plaq::dca::device {
namespace {

using team = gpu::serial_team;

// Memory
// ---------------------------------------------------------------------------------------------------------------------

TEST(arena, counts_without_memory_what_it_allocates_with_it) {
  std::vector<std::byte> memory(1000);
  arena counting(nullptr), allocating(memory.data());
  for (arena* a : {&counting, &allocating}) {
    double* numbers;
    float* values;
    int* none;
    a->allocate(numbers, 7);
    a->allocate(none, 0);
    a->allocate(values, 3);
    EXPECT_EQ(numbers == nullptr, a == &counting);
  }
  EXPECT_EQ(counting.bytes(), allocating.bytes());
  EXPECT_GE(counting.bytes(), 7 * sizeof(double) + 3 * sizeof(float));
}

TEST(arena, aligns_arrays_to_16_bytes_and_keeps_them_apart) {
  std::vector<std::byte> memory(1000);
  arena a(memory.data());
  std::byte *one, *two;
  double* three;
  a.allocate(one, 1);
  a.allocate(two, 17);
  a.allocate(three, 2);
  EXPECT_EQ(two - one, 16);
  EXPECT_EQ(reinterpret_cast<std::byte*>(three) - two, 32);
  EXPECT_EQ(a.bytes(), 64u);
}

/// [begin, end) of arrays of a workspace.
struct extent {
  const void* begin;
  std::size_t bytes;
};
void expect_disjoint(std::vector<extent> arrays, const std::vector<std::byte>& memory) {
  std::ranges::sort(arrays, {}, &extent::begin);
  const auto* end = memory.data();
  for (const extent& e : arrays) {
    const auto* begin = static_cast<const std::byte*>(e.begin);
    EXPECT_GE(begin, end);
    end = begin + e.bytes;
  }
  EXPECT_LE(end, memory.data() + memory.size());
}

TEST(workspace, holds_the_arrays_of_a_walk_side_by_side) {
  constexpr std::size_t k = 5, block = 3;
  workspace r;
  std::vector<std::byte> shared(allocate_shared(r, nullptr, k, block)), global(allocate_global(r, nullptr, k));
  allocate_shared(r, shared.data(), k, block);
  allocate_global(r, global.data(), k);
  std::vector<extent> in_shared = {{r.n[0], 8 * k * k}, {r.n[1], 8 * k * k},    {r.tau, 8 * k},   {r.forward, 8 * k},
                                   {r.backward, 8 * k}, {r.site, 4 * k},        {r.spin, 4 * k},  {r.slot_of, 4 * k},
                                   {r.number, 4 * k},   {r.changed, 4 * block}, {r.alive, 4 * k}, {r.list, 4 * k}};
  for (const double* v : r.vector) in_shared.push_back({v, 8 * (k + 1)});
  expect_disjoint(in_shared, shared);
  std::vector<extent> in_global = {{r.work[0], 8 * (k + 1) * (k + 1)},
                                   {r.work[1], 8 * (k + 1) * (k + 1)},
                                   {r.row, 8 * k},
                                   {r.column, 8 * k},
                                   {r.pivot, 4 * k},
                                   {r.indices, 4 * k},
                                   {r.weight, 16},
                                   {r.flipped, 4 * k},
                                   {r.interval, 4 * most_flips}};
  for (int side = 0; side < 2; ++side)
    for (const auto& [array, count] : {std::pair{r.border[side], k + 1},
                                       {r.worm[side], k + 1},
                                       {r.strength[side], k + 1},
                                       {r.left[side], most_flips * (k + 1)},
                                       {r.right[side], most_flips * (k + 1)},
                                       {r.y[side], std::size_t(most_flips)},
                                       {r.z[side], std::size_t(most_flips)},
                                       {r.b_inverse[side], std::size_t(most_flips * most_flips)}})
      in_global.push_back({array, 8 * count});
  expect_disjoint(in_global, global);
}

TEST(measurement_workspace, has_arrays_for_channels_of_equal_spins_only_where_there_are_some) {
  measurement_sizes sizes{.sites = 4, .frequencies = 3, .histogram_size = 5, .pair_frequencies = 2, .window = 2};
  measurement_workspace r;
  const std::size_t without = allocate_measurement(r, nullptr, sizes, 6);
  sizes.same_spin = true;
  const std::size_t with = allocate_measurement(r, nullptr, sizes, 6);
  EXPECT_EQ(with - without, 2 * sizeof(number) * sizes.plane() + sizeof(number) * 4 * 4 * 2);
}

TEST(measurement_workspace, holds_its_arrays_side_by_side) {
  const measurement_sizes s{.sites = 2, .frequencies = 3, .pair_frequencies = 2, .window = 1, .same_spin = true};
  constexpr std::size_t k = 5;
  const std::size_t points = std::size_t(s.points());
  measurement_workspace r;
  std::vector<std::byte> memory(allocate_measurement(r, nullptr, s, k));
  allocate_measurement(r, memory.data(), s, k);
  expect_disjoint({{r.m[0], 4 * k * k},
                   {r.m[1], 4 * k * k},
                   {r.tau, 8 * k},
                   {r.strength[0], 8 * k},
                   {r.strength[1], 8 * k},
                   {r.diagonal[0], 8 * k},
                   {r.diagonal[1], 8 * k},
                   {r.slot, 4 * k},
                   {r.site, 4 * k},
                   {r.first, 4 * 3},
                   {r.row, 4 * k},
                   {r.column, 4 * k},
                   {r.phase, 4 * 2 * 3 * k},
                   {r.pair_phase, 4 * 2 * 2 * k},
                   {r.transformed, 4 * 2 * 3 * k * 2},
                   {r.by_sites, 8 * 4 * 3},
                   {r.to, 4 * k * points},
                   {r.from, 4 * k * points},
                   {r.half, 4 * k * points},
                   {r.change, 4 * points * points},
                   {r.green[0], 8 * points * points},
                   {r.green[1], 8 * points * points},
                   {r.increments, 8 * (2 + 5 * 2)},
                   {r.parts, 4 * 4 * 4 * 4},
                   {r.mixed, 8 * s.plane()},
                   {r.g[0], 8 * s.plane()},
                   {r.g[1], 8 * s.plane()},
                   {r.across[0], 8 * s.plane()},
                   {r.across[1], 8 * s.plane()},
                   {r.direct, 8 * 4 * 2}},
                  memory);
}

// A chain in memory of the host
// ---------------------------------------------------------------------------------------------------------------------

bath_view view_of(const g0_table& g0) {
  return {g0.beta(),     g0.segments() / g0.beta(), g0.sites(),
          g0.segments(), g0.coefficients().data(),  g0.difference().data()};
}

TEST(bath_view, is_the_table_that_it_views) {
  const auto g0 = two_level_bath({3, 2}, 3, 0.5, 0.4).table(64);
  const bath_view view = view_of(*g0);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      for (const double t : {0., 1e-9, 0.7, 2.3, 2.9999})
        for (const double u : {0., 0.7, 1.9}) EXPECT_NEAR(view(i, t, j, u), (*g0)(i, t, j, u), 1e-14);
}

TEST(bath_view, evaluates_both_directions_of_time) {
  const auto g0 = two_level_bath({3, 2}, 3, 0.5, 0.4).table(64);
  const bath_view view = view_of(*g0);
  for (int i = 0; i < 6; ++i)
    for (const double t : {0., 0.7, 2.9}) {
      double forward, backward, expected_forward, expected_backward;
      view.both_directions(i, t, 2, 0.7, forward, backward);
      g0->both_directions(1, &i, &t, 2, 0.7, &expected_forward, &expected_backward);
      EXPECT_NEAR(forward, expected_forward, 1e-14);
      EXPECT_NEAR(backward, expected_backward, 1e-14);
    }
}

/// Chain of these vertices, the walk's vertex i in slot slots[i].
struct host_chain {
  static constexpr int capacity = 16, block = 4;

  host_chain(const exact_model& model, std::vector<vertex> v, std::vector<int> in_slots)
      : vertices(std::move(v)), slots(std::move(in_slots)), g0(view_of(*model.g0)) {
    const vertex_strength strength(model.parameters);
    rules.beta = model.parameters.beta;
    rules.K = model.parameters.K;
    rules.sites = model.parameters.sites;
    rules.strength[0] = strength(1, 1);
    rules.strength[1] = strength(1, -1);
    rules.block_length = block;
    workspace r;
    shared.resize(allocate_shared(r, nullptr, capacity, block));
    global.resize(allocate_global(r, nullptr, capacity));
    allocate_shared(r, shared.data(), capacity, block);
    allocate_global(r, global.data(), capacity);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      r.site[slots[i]] = vertices[i].site;
      r.spin[slots[i]] = vertices[i].spin;
      r.tau[slots[i]] = vertices[i].tau;
      r.slot_of[i] = slots[i];
    }
    m = std::make_unique<matrices<team>>(
        matrices<team>{serial, rules, g0, (*model.g0)(0, 0., 0, 0.), r, capacity, int(vertices.size()), 1.});
  }

  std::vector<vertex> vertices;
  std::vector<int> slots;
  bath_view g0;
  walk_rules rules{};
  std::vector<std::byte> shared, global;
  team serial;
  std::unique_ptr<matrices<team>> m;
};

const std::vector<vertex> some_vertices = {{2, 1, 0.4}, {0, -1, 2.5}, {2, -1, 0.1}, {3, 1, 1.7}, {0, 1, 0.6}};
const std::vector<int> some_slots = {3, 0, 4, 1, 2};

struct device_kernels : testing::TestWithParam<double> {
  const exact_model model = plaquette(3, 4, GetParam());
  host_chain chain{model, some_vertices, some_slots};
  matrices<team>& m = *chain.m;

  void expect_exact_n() {
    const auto n = model.n(some_vertices);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j)
          EXPECT_NEAR(m.n(side, some_slots[i], some_slots[j]), n[side](i, j), 1e-10 * (1 + std::abs(n[side](i, j))));
  }
};
INSTANTIATE_TEST_SUITE_P(K, device_kernels, testing::Values(1., -5.),
                         [](const auto& K) { return K.param > 0 ? "positive" : "negative"; });

TEST_P(device_kernels, recompute_N_and_the_sign_from_the_vertices) {
  m.sign = 7;
  ASSERT_TRUE(m.recompute());
  expect_exact_n();
  EXPECT_EQ(m.sign, model.sign(some_vertices));
}

TEST_P(device_kernels, rebuild_reports_the_largest_change_of_an_element) {
  ASSERT_TRUE(m.recompute());
  m.n(0, 1, 3) += 1e-3;
  m.n(1, 4, 0) -= 5e-3;
  double drift = 1e-4;
  ASSERT_TRUE(m.rebuild(drift));
  EXPECT_NEAR(drift, 5e-3, 1e-10);
  expect_exact_n();
  ASSERT_TRUE(m.rebuild(drift));
  EXPECT_NEAR(drift, 5e-3, 1e-10) << "the largest so far is kept";
}

TEST_P(device_kernels, rebuild_fails_where_N_is_not_finite) {
  for (const double value : {double(NAN), HUGE_VAL, -HUGE_VAL}) {
    ASSERT_TRUE(m.recompute());
    m.n(1, 2, 2) = value;
    double drift = 0;
    EXPECT_FALSE(m.rebuild(drift)) << value;
  }
}

TEST_P(device_kernels, recompute_fails_where_the_bath_is_not_finite) {
  m.g_equal = NAN;
  EXPECT_FALSE(m.recompute());
}

TEST_P(device_kernels, tabulate_g_from_a_point_to_all_vertices_and_back) {
  m.tabulate(1, 0.6);
  for (int i = 0; i < 5; ++i) {
    const vertex& v = some_vertices[std::size_t(i)];
    const double expected = v.tau == 0.6 ? (*model.g0)(v.site, 0., 1, 0.) : (*model.g0)(v.site, v.tau, 1, 0.6);
    EXPECT_NEAR(m.r.forward[some_slots[i]], expected, 1e-12);
    const double back = v.tau == 0.6 ? -(*model.g0)(1, 3., v.site, 0.) : (*model.g0)(1, 0.6, v.site, v.tau);
    EXPECT_NEAR(m.r.backward[some_slots[i]], back, 1e-12);
  }
}

TEST(row_times, is_the_scalar_product_with_a_row_of_any_length) {
  constexpr std::size_t stride = 3;
  std::vector<double> matrix(stride * 12), x(12);
  std::iota(matrix.begin(), matrix.end(), 1.);
  std::iota(x.begin(), x.end(), -4.);
  for (int columns = 0; columns <= 12; ++columns) {
    double expected = 0;
    for (int j = 0; j < columns; ++j) expected += matrix[1 + std::size_t(j) * stride] * x[std::size_t(j)];
    EXPECT_EQ(matrices<team>::row_times(columns, matrix.data() + 1, stride, x.data()), expected) << columns;
  }
}

// Measurements
// ---------------------------------------------------------------------------------------------------------------------

/// Sample on the device beside that of the workers.
struct device_samples : device_kernels {
  device_samples() {
    *p = *some_problem(true, {{channel::magnetic, 1, 0}});
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

TEST(measurement_tables, have_the_sizes_of_the_measurements) {
  const auto p = some_problem(true, {{channel::pp, 1, 1}, {channel::charge, 0, 0}});
  const measurement_sizes all = sizes_of(4, p->measured);
  EXPECT_EQ(all.frequencies, 3);
  EXPECT_EQ(all.pair_frequencies, 4);
  EXPECT_EQ(all.orbits, 5);
  EXPECT_EQ(all.channels, 2);
  EXPECT_TRUE(all.same_spin);
  EXPECT_EQ(all.functions_size(), total_size(two_particle_layout(4, p->measured)));

  p->measured.channels.pop_back();
  EXPECT_FALSE(sizes_of(4, p->measured).same_spin) << "pp has opposite spins";
  p->measured.pairing = false;
  EXPECT_EQ(sizes_of(4, p->measured).orbits, 0);
  p->measured.channels.clear();
  const measurement_sizes none = sizes_of(4, p->measured);
  EXPECT_EQ(none.pair_frequencies, 0);
  EXPECT_EQ(none.functions_size(), 0u);
  EXPECT_EQ(none.histogram_size, 50);
}

TEST(measurement_tables, know_the_partner_of_every_site_at_every_distance) {
  const torus cluster{3, 2};
  const auto p = some_problem(false, {}, cluster);
  const measurement_tables tables(*p, {});
  const auto difference = cluster.difference();
  for (int i = 0; i < 6; ++i)
    for (int R = 0; R < 6; ++R) {
      const int j = tables.rules().partner[R * 6 + i];
      EXPECT_EQ(difference[std::size_t(i * 6 + j)], R);
    }
  EXPECT_EQ(tables.g0(0), nullptr) << "no two-particle functions";
}

TEST(measurement_tables, list_the_pairs_of_every_orbit) {
  const auto p = some_problem(true, {});
  const measurement_tables tables(*p, {});
  std::vector<int> seen(16);
  for (int orbit = 0; orbit < 5; ++orbit)
    for (int at = tables.rules().orbit_begins[orbit]; at < tables.rules().orbit_begins[orbit + 1]; ++at) {
      const int pair = tables.rules().orbit_pairs[at];
      EXPECT_EQ(p->measured.orbit[std::size_t(pair)], orbit);
      ++seen[std::size_t(pair)];
    }
  EXPECT_EQ(seen, std::vector<int>(16, 1));
}

TEST(measurement_tables, have_the_offsets_of_the_layout_of_a_bin) {
  const auto p = some_problem(true, {{channel::pp, 0, 0}});
  const measurement_tables tables(*p, {});
  const measurement_rules& r = tables.rules();
  const bin_layout layout = layout_of(4, p->measured);
  EXPECT_EQ(r.sign, array_named(layout, "sign").offset);
  EXPECT_EQ(r.order, array_named(layout, "order").offset);
  EXPECT_EQ(r.weight, array_named(layout, "weight").offset);
  EXPECT_EQ(r.single_particle, array_named(layout, "single_particle").offset);
  EXPECT_EQ(r.correlations, array_named(layout, "density").offset);
  EXPECT_EQ(r.histogram, array_named(layout, "histogram").offset);
  EXPECT_EQ(r.functions, array_named(layout, "pairing").offset);
}

TEST(measurement_tables, give_every_chain_its_bath) {
  const auto p = some_problem(true, {});
  const auto bath = [](float value) {
    auto out = std::make_shared<bath_function>();
    out->g0_frequency.assign(16, {value, -value});
    return out;
  };
  const auto first = bath(1), second = bath(2);
  p->baths = {first, second, first};
  const measurement_tables tables(*p, {});
  EXPECT_EQ(tables.g0(0)[5].re, 1);
  EXPECT_EQ(tables.g0(1)[5].im, -2);
  EXPECT_EQ(tables.g0(2), tables.g0(0)) << "stored once";
  EXPECT_THROW(tables.g0(3), std::out_of_range);
}

TEST(measurement_tables, refuse_tables_of_other_sizes) {
  auto p = some_problem(true, {{channel::pp, 0, 2}});
  EXPECT_THROW(measurement_tables(*p, {}), runtime_failure) << "window + |m| > frequencies";
  p = some_problem(true, {});
  p->measured.g0_frequency.pop_back();
  EXPECT_THROW(measurement_tables(*p, {}), runtime_failure);
  p = some_problem(true, {});
  p->model.difference.pop_back();
  EXPECT_THROW(measurement_tables(*p, {}), runtime_failure);
}

}  // namespace
}  // namespace plaq::dca::device
