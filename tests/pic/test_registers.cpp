// Operations on some of the lanes of a register, for registers of all widths.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "plans.hpp"
#include "plaq/pic/particles/cell_runs.hpp"
#include "plaq/pic/particles/particles.hpp"
#include "plaq/pic/particles/registers.hpp"

namespace plaq::pic {
namespace {

using namespace test;

/// Returns from, from + 1, ... in the lanes.
template <class T, int N>
PLAQ_KERNEL linalg::simd<T, N> numbered(double from = 1) {
  linalg::simd<T, N> v;
  for (int l = 0; l < N; ++l) v[l] = T(from + l);
  return v;
}

/// Calls test(T(), integral constant of the lanes) for both precisions and all widths.
template <class Test>
void for_all_registers(Test test) {
  const auto widths = [&](auto number) {
    test(number, std::integral_constant<int, 2>());
    test(number, std::integral_constant<int, 4>());
    test(number, std::integral_constant<int, 8>());
    test(number, std::integral_constant<int, 16>());
  };
  widths(float()), widths(double());
}

TEST(registers, masks_have_a_bit_for_each_lane_the_first_lowest) {
  EXPECT_EQ(low_lanes(0), 0u);
  EXPECT_EQ(low_lanes(3), 7u);
  EXPECT_EQ(low_lanes(16), 0xffffu);
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    const auto v = numbered<T, N>();
    EXPECT_EQ(mask_of(v > linalg::same<linalg::simd<T, N>>(0)), low_lanes(N));
    EXPECT_EQ(mask_of(v < linalg::same<linalg::simd<T, N>>(2)), 1u);
    EXPECT_EQ(mask_of(v == linalg::same<linalg::simd<T, N>>(T(N))), lane_mask(1) << (N - 1));
  });
}

TEST(registers, masked_loads_read_no_other_memory) {
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    using V = linalg::simd<T, N>;
    for (int count = 0; count <= N; ++count) {
      const std::vector<T> from(std::size_t(count), T(7));  // as long as the mask
      const V v = load_masked<V>(from.data(), low_lanes(count));
      for (int l = 0; l < N; ++l) EXPECT_EQ(v[l], l < count ? 7 : 0);
    }
  });
}

TEST(registers, masked_stores_change_no_other_memory) {
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    for (const lane_mask mask : {lane_mask(0), lane_mask(1), lane_mask(2), low_lanes(N) & 0x5555, low_lanes(N)}) {
      std::vector<T> to(N, T(-1));
      store_masked(to.data(), numbered<T, N>(), mask);
      for (int l = 0; l < N; ++l) EXPECT_EQ(to[std::size_t(l)], mask >> l & 1 ? l + 1 : -1) << mask;
    }
  });
}

TEST(registers, packed_stores_write_the_lanes_one_after_the_other) {
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    for (const lane_mask mask : {lane_mask(0), lane_mask(2), low_lanes(N) & 0xaaaa, low_lanes(N)}) {
      const auto count = std::size_t(std::popcount(mask));
      std::vector<T> to(count + 1, T(-1));
      store_packed(to.data(), numbered<T, N>(), mask);
      std::size_t next = 0;
      for (int l = 0; l < N; ++l)
        if (mask >> l & 1) {
          EXPECT_EQ(to[next++], l + 1);
        }
      EXPECT_EQ(to[count], -1);
    }
  });
}

TEST(registers, lanes_outside_the_mask_become_0) {
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    const auto v = keep_lanes(numbered<T, N>(), low_lanes(N) & 0x6);
    for (int l = 0; l < N; ++l) EXPECT_EQ(v[l], l == 1 || l == 2 ? l + 1 : 0);
  });
}

TEST(registers, roots_are_those_of_each_lane) {
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    const auto v = square_root(numbered<T, N>());
    for (int l = 0; l < N; ++l) EXPECT_EQ(v[l], std::sqrt(T(l + 1)));
  });
}

// Whole numbers, whose sums are exact.
TEST(registers, sums_of_lanes_are_those_of_each_register) {
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    const auto check = [&]<int Count>(std::integral_constant<int, Count>) {
      linalg::simd<T, N> v[Count];
      for (int i = 0; i < Count; ++i) v[i] = numbered<T, N>(i * i);
      T out[Count];
      sums_of_lanes(v, out);
      for (int i = 0; i < Count; ++i) EXPECT_EQ(out[i], i * i * N + N * (N - 1) / 2) << i;
    };
    check(std::integral_constant<int, 1>());
    check(std::integral_constant<int, 3>());
    check(std::integral_constant<int, N>());
    check(std::integral_constant<int, 2 * N + 1>());
  });
}

TEST(registers, sums_in_double_keep_what_single_precision_loses) {
  for_all_registers([]<class T, int N>(T, std::integral_constant<int, N>) {
    double_sum<linalg::simd<T, N>> sum;
    sum.add(linalg::same<linalg::simd<T, N>>(T(16777216)));  // 2^24
    for (int i = 0; i < 10; ++i) sum.add(linalg::same<linalg::simd<T, N>>(1));
    EXPECT_EQ(sum.all(), N * (16777216.0 + 10));
  });
}

// Runs of cells -------------------------------------------------------------------------------------------------------

template <class T>
void check_runs(int dimensions) {
  const patch_grid m(periodic(dimensions, 1, 8, 2), {0, 0, 0});
  particles<T> p;
  std::vector<int> length{1, 40, 3, 16, 17, 2};  // of runs in one cell
  for (std::size_t run = 0; run < length.size(); ++run)
    for (int i = 0; i < length[run]; ++i) {
      for (int d = 0; d < dimensions; ++d) p.cell[std::size_t(d)].push_back(int(run) % 3 + d % 2);
      p.w.push_back(T(run));
    }
  std::vector<std::size_t> visited;
  std::size_t run = 0;
  const auto check = [&]<int D>(std::integral_constant<int, D>) {
    for_each_cell_run<D>(m, p, [&](const point& cell, std::ptrdiff_t at, auto for_each_register) {
      EXPECT_EQ(cell[0], int(run) % 3);
      EXPECT_EQ(at, m.index(cell));
      int count = 0;
      for_each_register([&](std::size_t i, lane_mask mask) {
        EXPECT_EQ(mask & (mask + 1), 0u);  // the first lanes
        for (int l = 0; l < std::popcount(mask); ++l) visited.push_back(i + std::size_t(l)), ++count;
      });
      EXPECT_EQ(count, length[run++]);
    });
  };
  if (dimensions == 1) check(std::integral_constant<int, 1>());
  if (dimensions == 2) check(std::integral_constant<int, 2>());
  if (dimensions == 3) check(std::integral_constant<int, 3>());
  ASSERT_EQ(visited.size(), p.size());
  for (std::size_t i = 0; i < visited.size(); ++i) EXPECT_EQ(visited[i], i);
}
TEST(cell_runs, visit_every_particle_once_cell_by_cell) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) check_runs<float>(dimensions), check_runs<double>(dimensions);
}

TEST(cell_runs, of_no_particles_are_none) {
  const patch_grid m(periodic(1, 1), {0, 0, 0});
  for_each_cell_run<1>(m, particles<float>(), [](const point&, std::ptrdiff_t, auto) { FAIL(); });
}

// Lists of particles -------------------------------------------------------------------------------------------------

TEST(particles, append_copies_all_arrays_of_the_used_dimensions) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const patch_grid m(periodic(dimensions, 1), {0, 0, 0});
    auto from = some_particles<double>(m, 5);
    from.id = {10, 11, 12, 13, 14};
    particles<double> to;
    to.append(from, dimensions);
    to.append(from, 3, dimensions);
    EXPECT_EQ(to.size(), 6u);
    EXPECT_EQ(to.id.back(), 13u);
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_EQ(to.cell[d].size(), d < std::size_t(dimensions) ? 6u : 0u);
      if (d < std::size_t(dimensions)) {
        EXPECT_EQ(to.x[d].back(), from.x[d][3]);
      }
      EXPECT_EQ(to.u[d].back(), from.u[d][3]);
    }
    EXPECT_EQ(to.w.back(), from.w[3]);
  }
}

TEST(particles, remove_puts_the_last_one_in_place) {
  const patch_grid m(periodic(2, 1), {0, 0, 0});
  auto all = some_particles<float>(m, 4);
  all.id = {0, 1, 2, 3};
  const auto before = all;
  all.remove(1, 2);
  EXPECT_EQ(all.id, (std::vector<std::uint64_t>{0, 3, 2}));
  EXPECT_EQ(all.w[1], before.w[3]);
  EXPECT_EQ(all.x[1][1], before.x[1][3]);
  all.remove(2, 2);
  EXPECT_EQ(all.id, (std::vector<std::uint64_t>{0, 3}));
  all.remove(0, 2), all.remove(0, 2);
  EXPECT_TRUE(all.empty());
}

TEST(streams, numbers_have_their_range_and_distribution) {
  EXPECT_EQ(above_zero(0), 1);
  EXPECT_GT(above_zero(~std::uint64_t(0)), 0);
  double mean = 0, square = 0;
  const int n = 20000;
  for (int i = 0; i < n; ++i) {
    const auto word = random_words(stream_of(1, random_purpose::momenta, 2, 3, 4), std::uint64_t(i));
    for (const double x : normal_pair(word[0], word[1])) mean += x / (2 * n), square += x * x / (2 * n);
  }
  EXPECT_NEAR(mean, 0, 4 / std::sqrt(2.0 * n));
  EXPECT_NEAR(square, 1, 4 * std::sqrt(2 / (2.0 * n)));
}

TEST(streams, differ_in_every_coordinate) {
  const auto first = [](const stream_id& s) { return random_words(s, 0)[0]; };
  const auto word = first(stream_of(1, random_purpose::emission, 2, 3, 4));
  EXPECT_NE(word, first(stream_of(2, random_purpose::emission, 2, 3, 4)));
  EXPECT_NE(word, first(stream_of(1, random_purpose::collisions, 2, 3, 4)));
  EXPECT_NE(word, first(stream_of(1, random_purpose::emission, 3, 3, 4)));
  EXPECT_NE(word, first(stream_of(1, random_purpose::emission, 2, 4, 4)));
  EXPECT_NE(word, first(stream_of(1, random_purpose::emission, 2, 3, 5)));
  EXPECT_NE(word, first(stream_of(1, random_purpose::emission, 2, 3, 4 + (std::uint64_t(1) << 32))));
}

}  // namespace
}  // namespace plaq::pic
