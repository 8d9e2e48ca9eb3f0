// Memory of fields: groups, lanes and components, subsets of sites, copies between layouts and precisions.
#include <gtest/gtest.h>

#include <cstdint>

#include "fields_of_tests.hpp"
#include "plaq/lqcd/lattice/copy.hpp"
#include "plaq/lqcd/lattice/fixed16.hpp"

namespace plaq::lqcd {
namespace {

const coordinates extents{4, 8, 4, 4};

TEST(field, is_zero_when_it_is_made) {
  for (const auto subset : {sites::even, sites::odd, sites::all}) {
    const spinors<double> psi(layout_of(extents, 4), subset);
    for (std::size_t i = 0; i < psi.size(); ++i) EXPECT_EQ(psi.data()[i], 0);
  }
}

TEST(field, has_numbers_on_the_sites_of_its_subset_alone) {
  const auto layout = layout_of(extents, 4);
  const spinors<double> all(layout), even(layout, sites::even), odd(layout, sites::odd);
  EXPECT_EQ(all.groups(), layout->groups());
  EXPECT_EQ(even.groups(), layout->half());
  EXPECT_EQ(odd.groups(), layout->half());
  EXPECT_EQ(odd.first_group(), layout->half());
  EXPECT_TRUE(all.has(0) && all.has(1) && even.has(0) && !even.has(1) && odd.has(1) && !odd.has(0));
  EXPECT_EQ(all.size(), std::size_t(product(extents) * 24));
  EXPECT_EQ(odd.size(), std::size_t(product(extents) * 12));
}

TEST(field, counts_groups_of_odd_sites_as_the_layout_does) {
  const auto layout = layout_of(extents, 2);
  spinors<double> odd(layout, sites::odd);
  EXPECT_EQ(odd.group(layout->half()), odd.data());
  EXPECT_EQ(odd.of(1), odd.data());
  EXPECT_EQ(odd.group(layout->half() + 3) - odd.data(), 3 * 24 * 2);
}

TEST(field, stores_components_of_all_lanes_next_to_each_other) {
  const auto layout = layout_of(extents, 4);
  spinors<double> psi(layout);
  const auto p = layout->locate({3, 5, 2, 1});
  psi.set(p, 7, {1.5, -2.5});
  const double* group = psi.data() + p.group * 24 * 4;
  EXPECT_EQ(group[14 * 4 + p.lane], 1.5);
  EXPECT_EQ(group[15 * 4 + p.lane], -2.5);
  EXPECT_EQ(psi.get(p, 7), std::complex<double>(1.5, -2.5));
  EXPECT_EQ(std::count(psi.data(), psi.data() + psi.size(), 0.0), std::ptrdiff_t(psi.size()) - 2);
}

TEST(field, is_zero_in_memory_of_a_former_field) {
  for (int i = 0; i < 3; ++i) {
    spinors<double> psi(layout_of({8, 8, 8, 8}, 4));
    EXPECT_EQ(std::count(psi.data(), psi.data() + psi.size(), 0.0), std::ptrdiff_t(psi.size()));
    std::fill_n(psi.data(), psi.size(), 1.0);
  }
}

TEST(field, has_memory_that_streaming_stores_can_take) {
  for (const int lanes : lane_counts<double>()) {
    const links<double> u(layout_of(extents, lanes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(u.data()) % 64, 0u) << lanes;
  }
}

TEST(field, is_copied_with_its_numbers_and_moved_without) {
  const auto psi = random_spinors_on(layout_of(extents, 4));
  spinors<double> copy(psi), assigned(psi.shared_layout());
  assigned = psi;
  EXPECT_TRUE(same_bits(copy, psi));
  EXPECT_TRUE(same_bits(assigned, psi));
  EXPECT_NE(copy.data(), psi.data());
  const double* memory = copy.data();
  const spinors<double> moved(std::move(copy));
  EXPECT_EQ(moved.data(), memory);
}

TEST(field, of_other_sites_or_lanes_cannot_be_assigned) {
  spinors<double> psi(layout_of(extents, 4)), odd(layout_of(extents, 4), sites::odd);
  const spinors<double> other_lanes(layout_of(extents, 2)), other_lattice(layout_of({4, 4, 4, 4}, 4));
  EXPECT_ANY_THROW(psi = odd);
  EXPECT_ANY_THROW(odd = psi);
  EXPECT_ANY_THROW(psi = other_lanes);
  EXPECT_ANY_THROW(psi = other_lattice);
}

TEST(field, has_the_same_numbers_in_any_layout) {
  const auto psi = random_spinors_on(layout_of(extents, 1));
  for (const int lanes : {1, 2, 4, 8, 16})
    for (const auto subset : {sites::all, sites::even, sites::odd}) {
      const auto part = random_spinors_on(layout_of(extents, 1), 0, subset);
      spinors<double> there(layout_of(extents, lanes), subset), back(part);
      copy(part, there);
      for_each_site(there.layout(), [&](const coordinates& x, site_layout::location p) {
        for (int i = 0; there.has(parity(x)) && i < 12; ++i)
          EXPECT_EQ(there.get(p, i), psi.get(psi.layout().locate(x), i));
      });
      std::fill_n(back.data(), back.size(), 0.0);
      copy(there, back);
      EXPECT_TRUE(same_bits(back, part)) << lanes;
    }
}

TEST(field, loses_no_more_than_rounding_in_single_precision) {
  const auto psi = random_spinors_on(layout_of(extents, 4));
  spinors<float> single(layout_of(extents, 8));
  spinors<double> back(psi.shared_layout());
  copy(psi, single);
  copy(single, back);
  for (std::size_t i = 0; i < psi.size(); ++i) EXPECT_EQ(back.data()[i], double(float(psi.data()[i])));
}

TEST(field, is_converted_number_by_number) {
  const auto psi = random_spinors_on(layout_of(extents, 1));
  spinors<double> twice(layout_of(extents, 4));
  copy(psi, twice, [](double x) { return 2 * x; });
  for_each_site(twice.layout(), [&](const coordinates& x, site_layout::location p) {
    for (int i = 0; i < 12; ++i) EXPECT_EQ(twice.get(p, i), 2.0 * psi.get(psi.layout().locate(x), i));
  });
}

TEST(field, of_another_lattice_or_subset_cannot_be_copied) {
  const auto psi = random_spinors_on(layout_of(extents, 4));
  spinors<double> other(layout_of({4, 4, 4, 4}, 4)), odd(layout_of(extents, 4), sites::odd);
  EXPECT_ANY_THROW(copy(psi, other));
  EXPECT_ANY_THROW(copy(psi, odd));
}

TEST(fixed16, keeps_numbers_between_minus_one_and_one_to_half_a_step) {
  for (int i = -1000; i <= 1000; ++i) {
    const double x = i / 1000.0;
    EXPECT_LE(std::abs(to_fixed16(x) / double(fixed16_one) - x), 0.5 / fixed16_one + 1e-15) << x;
  }
  EXPECT_EQ(to_fixed16(0), 0);
  EXPECT_EQ(to_fixed16(1), fixed16_one);
  EXPECT_EQ(to_fixed16(-1), -fixed16_one);
}

TEST(fixed16, clamps_larger_numbers) {
  EXPECT_EQ(to_fixed16(1.0001), fixed16_one);
  EXPECT_EQ(to_fixed16(-17), -fixed16_one);
}

}  // namespace
}  // namespace plaq::lqcd
