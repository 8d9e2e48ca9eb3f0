// Kernels of a chain on a device, one by one on the host, against the workers' code and the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "host_chain.hpp"
#include "plaq/base/error.hpp"
#include "plaq/dca/device/measurement_tables.hpp"

namespace plaq::dca::device {
namespace {

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

TEST(arena, allocates_in_fast_memory_what_fits_it) {
  std::vector<std::byte> memory(1000), fast(40);
  arena a(memory.data(), {fast.data(), fast.size()});
  double *large, *small;
  std::byte* rest;
  a.allocate(large, 6);
  a.allocate(small, 3);
  a.allocate(rest, 1);
  EXPECT_EQ(reinterpret_cast<std::byte*>(large), memory.data());
  EXPECT_EQ(reinterpret_cast<std::byte*>(small), fast.data());
  EXPECT_EQ(rest, memory.data() + 48) << "8 bytes of 40 are left, and arrays are aligned to 16";
  EXPECT_EQ(a.bytes(), 64u);
}

TEST(vertex_arrays, lie_side_by_side) {
  constexpr std::size_t k = 5;
  vertex_arrays r;
  std::vector<std::byte> memory(allocate_vertices(r, nullptr, k));
  allocate_vertices(r, memory.data(), k);
  expect_disjoint({{r.n[0], 8 * k * k}, {r.n[1], 8 * k * k}, {r.tau, 8 * k}, {r.site, 4 * k}, {r.spin, 4 * k}}, memory);
}

TEST(scratch_memory, has_room_for_every_move) {
  constexpr std::size_t k = 5, count = 3, candidates = 2, m = 3;
  std::vector<std::byte> memory(scratch_bytes(k, count));
  arena block(memory.data()), worm(memory.data()), rebuild(memory.data());
  block_space b;
  b.allocate_proposals(block, k, count);
  b.allocate_products(block, k, candidates);
  b.allocate_change(block, k + m, m);
  std::vector<extent> arrays = {{b.uniform, 8 * count}, {b.time, 8 * count},        {b.tau, 8 * count},
                                {b.choice, 8 * count},  {b.kind, 4 * count},        {b.site, 4 * count},
                                {b.spin, 4 * count},    {b.row_of, 4 * count},      {b.changed, 4 * count},
                                {b.from, 4 * (k + m)},  {b.alive, 4 * (k + count)}, {b.forward, 8 * k * candidates},
                                {b.gaps, 4 * m},        {b.joined, 4 * m}};
  for (int side = 0; side < 2; ++side)
    for (const auto& [array, size] : {std::pair{b.column[side], count},
                                      {b.row[side], count},
                                      {b.product[side], count},
                                      {b.b_inverse[side], count * count},
                                      {b.w[side], candidates * candidates},
                                      {b.inserted[side], k * candidates},
                                      {b.backward[side], k * candidates},
                                      {b.left[side], (k + m) * m},
                                      {b.solved[side], (k + m) * m},
                                      {b.right[side], (k + m) * m}})
      arrays.push_back({array, 8 * size});
  expect_disjoint(arrays, memory);

  worm_space w;
  w.allocate(worm, k);
  arrays = {{w.weight, 16}, {w.flipped, 4 * k}, {w.interval, 4 * most_flips}, {w.forward, 8 * k}, {w.backward, 8 * k}};
  for (int side = 0; side < 2; ++side)
    for (const auto& [array, size] : {std::pair{w.border[side], k + 1},
                                      {w.worm[side], k + 1},
                                      {w.strength[side], k + 1},
                                      {w.left[side], most_flips * (k + 1)},
                                      {w.right[side], most_flips * (k + 1)},
                                      {w.y[side], std::size_t(most_flips)},
                                      {w.z[side], std::size_t(most_flips)},
                                      {w.b_inverse[side], std::size_t(most_flips * most_flips)},
                                      {w.flips[side].panel, std::size_t(most_flips * gpu::inverse_space::width)},
                                      {w.n[side], (k + 1) * (k + 1)}})
      arrays.push_back({array, 8 * size});
  expect_disjoint(arrays, memory);

  rebuild_space r;
  r.allocate(rebuild, k);
  expect_disjoint({{r.change, 8 * k}, {r.n[0], 8 * k * k}, {r.n[1], 8 * k * k}, {r.inverse.panel, 8 * 16 * k}}, memory);
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
                   {r.vertex, 4 * k},
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

// Tables of the measurements
// ---------------------------------------------------------------------------------------------------------------------

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
