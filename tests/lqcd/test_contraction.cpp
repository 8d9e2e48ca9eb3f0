// Sums over space of numbers on sites. Runs on any number of ranks.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <vector>

#include "plaq/lqcd/lattice/contraction.hpp"
#include "rank_context.hpp"

namespace plaq::lqcd {
namespace {

using number = std::complex<double>;
const coordinates extents{4, 4, 8, 4};
const auto slices = std::size_t(extents[0]);

/// Numbers [t, x, y, z, component] of the whole lattice, the same on all ranks.
std::vector<number> random_numbers(int components, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<number> out(std::size_t(product(extents) * components));
  for (auto& z : out) z = {normal(random), normal(random)};
  return out;
}

/// The part of a rank's box.
std::vector<number> part_of_rank(const lattice& lat, const std::vector<number>& whole, int components) {
  std::vector<number> out;
  for (std::int64_t i = 0; i < product(lat.local()); ++i) {
    const auto x = coordinates_in(i, lat.local()) + lat.origin();
    const auto first = whole.begin() + index_in(x, extents) * components;
    out.insert(out.end(), first, first + components);
  }
  return out;
}

TEST(contraction, sums_a_field_over_each_time_slice_on_any_grid) {
  const auto f = random_numbers(1, 1);
  std::vector<number> expected(slices);
  for (std::int64_t i = 0; i < product(extents); ++i) expected[coordinates_in(i, extents)[0]] += f[i];
  for (const int workers : {1, 2}) {
    rank_context ranks(world(), "fiber", workers);
    for (const auto& grid : grids(extents)) {
      const lattice lat(extents, grid, world().rank());
      const auto sums = slice_sums(ranks.ctx, lat, part_of_rank(lat, f, 1).data());
      ASSERT_EQ(sums.size(), expected.size());
      for (std::size_t t = 0; t < sums.size(); ++t)
        EXPECT_LT(std::abs(sums[t] - expected[t]), 1e-12) << to_string(grid);
    }
  }
}

class spin_tensors : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(source_colours, spin_tensors, testing::Values(1, 2, 3));

TEST_P(spin_tensors, are_sums_over_colours_and_space_of_products_of_propagators) {
  const int colours = GetParam(), components = 12 * 4 * colours;
  const auto S = random_numbers(components, 2), other = random_numbers(components, 3);
  const auto at = [&](const std::vector<number>& field, std::int64_t x, int spin, int colour, int spin0, int colour0) {
    return field[std::size_t(((x * 4 + spin) * 3 + colour) * 4 * colours + spin0 * colours + colour0)];
  };
  std::vector<number> expected(256 * slices);
  for (std::int64_t x = 0; x < product(extents); ++x)
    for (int abcd = 0; abcd < 256; ++abcd)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < colours; ++j)
          expected[std::size_t(coordinates_in(x, extents)[0] * 256 + abcd)] +=
              at(S, x, abcd / 64, i, abcd / 16 % 4, j) * std::conj(at(other, x, abcd / 4 % 4, i, abcd % 4, j));
  rank_context ranks(world());
  for (const auto& grid : grids(extents)) {
    const lattice lat(extents, grid, world().rank());
    const auto tensor = spin_tensor(ranks.ctx, lat, colours, part_of_rank(lat, S, components).data(),
                                    part_of_rank(lat, other, components).data());
    ASSERT_EQ(tensor.size(), expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < tensor.size(); ++i) worst = std::max(worst, std::abs(tensor[i] - expected[i]));
    EXPECT_LT(worst, 1e-11) << to_string(grid);
  }
}

TEST_P(spin_tensors, have_the_same_bits_on_any_grid_with_any_workers) {
  const int colours = GetParam(), components = 12 * 4 * colours;
  const auto S = random_numbers(components, 2), other = random_numbers(components, 3);
  rank_context single(single_rank());
  const auto expected = spin_tensor(single.ctx, lattice(extents), colours, S.data(), other.data());
  rank_context ranks(world(), "fiber", 2);
  for (const auto& grid : grids(extents)) {
    const lattice lat(extents, grid, world().rank());
    EXPECT_EQ(spin_tensor(ranks.ctx, lat, colours, part_of_rank(lat, S, components).data(),
                          part_of_rank(lat, other, components).data()),
              expected)
        << to_string(grid);
  }
}

TEST(contraction, of_propagators_with_no_or_four_colours_is_refused) {
  rank_context ranks(single_rank());
  const std::vector<number> S(std::size_t(product(extents) * 12 * 4 * 4));
  EXPECT_ANY_THROW(spin_tensor(ranks.ctx, lattice(extents), 0, S.data(), S.data()));
  EXPECT_ANY_THROW(spin_tensor(ranks.ctx, lattice(extents), 4, S.data(), S.data()));
}

}  // namespace
}  // namespace plaq::lqcd
