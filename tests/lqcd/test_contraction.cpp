// Sums over space of numbers on sites. Runs on any number of ranks.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <string>
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

/// Numbers [momentum, x, y, z] of modulus one: of the whole lattice, and of a rank's box.
struct phases_of_space {
  explicit phases_of_space(int count, unsigned seed) : whole(random_numbers_of_space(count, seed)), count(count) {}
  static std::vector<number> random_numbers_of_space(int count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> angle(-3, 3);
    std::vector<number> out(std::size_t(count * product(extents) / extents[0]));
    for (auto& z : out) z = std::polar(1.0, angle(random));
    return out;
  }
  std::vector<number> part(const lattice& lat) const {
    const coordinates space{1, extents[1], extents[2], extents[3]};
    const coordinates local{1, lat.local()[1], lat.local()[2], lat.local()[3]};
    std::vector<number> out;
    for (int p = 0; p < count; ++p)
      for (std::int64_t i = 0; i < product(local); ++i) {
        auto x = coordinates_in(i, local) + lat.origin();
        x[0] = 0;
        out.push_back(whole[std::size_t(p * product(space) + index_in(x, space))]);
      }
    return out;
  }
  std::vector<number> whole;
  int count;
};

struct source_shape {
  int spins, colours;
};
class spin_tensors : public testing::TestWithParam<source_shape> {};
INSTANTIATE_TEST_SUITE_P(sources, spin_tensors,
                         testing::Values(source_shape{4, 1}, source_shape{4, 2}, source_shape{4, 3}, source_shape{1, 1},
                                         source_shape{1, 3}),
                         [](const auto& p) {
                           return std::to_string(p.param.spins) + "_spins_" + std::to_string(p.param.colours) +
                                  "_colours";
                         });

TEST_P(spin_tensors, are_sums_over_colours_and_space_of_products_of_propagators) {
  const auto [spins, colours] = GetParam();
  const int components = 12 * spins * colours, pairs = 4 * spins, count = 2;
  const auto S = random_numbers(components, 2), other = random_numbers(components, 3);
  const phases_of_space phases(count, 4);
  const auto at = [&](const std::vector<number>& field, std::int64_t x, int pair, int colour, int colour0) {
    return field[std::size_t((((x * 4 + pair / spins) * 3 + colour) * spins + pair % spins) * colours + colour0)];
  };
  const std::int64_t space = product(extents) / extents[0];
  std::vector<number> expected(count * slices * pairs * pairs);
  for (std::int64_t x = 0; x < product(extents); ++x)
    for (int p = 0; p < count; ++p)
      for (int abcd = 0; abcd < pairs * pairs; ++abcd)
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < colours; ++j)
            expected[std::size_t((p * extents[0] + coordinates_in(x, extents)[0]) * pairs * pairs + abcd)] +=
                phases.whole[std::size_t(p * space + x % space)] * at(S, x, abcd / pairs, i, j) *
                std::conj(at(other, x, abcd % pairs, i, j));
  rank_context one(single_rank()), ranks(world(), "fiber", 2);
  const auto alone = spin_tensor(one.ctx, lattice(extents), {count, phases.whole.data()}, {spins, colours, S.data()},
                                 {spins, colours, other.data()});
  ASSERT_EQ(alone.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) worst = std::max(worst, std::abs(alone[i] - expected[i]));
  EXPECT_LT(worst, 1e-11);
  for (const auto& grid : grids(extents)) {
    const lattice lat(extents, grid, world().rank());
    const auto mine = part_of_rank(lat, S, components), others = part_of_rank(lat, other, components);
    const auto turns = phases.part(lat);
    EXPECT_EQ(spin_tensor(ranks.ctx, lat, {count, turns.data()}, {spins, colours, mine.data()},
                          {spins, colours, others.data()}),
              alone)
        << to_string(grid);
  }
}

TEST(contraction, of_propagators_with_no_or_four_colours_is_refused) {
  rank_context ranks(single_rank());
  const std::vector<number> S(std::size_t(product(extents) * 12 * 4 * 4));
  const phases_of_space phases(1, 1);
  for (const source_shape shape : {source_shape{4, 0}, source_shape{4, 4}, source_shape{2, 3}})
    EXPECT_ANY_THROW(spin_tensor(ranks.ctx, lattice(extents), {1, phases.whole.data()},
                                 {shape.spins, shape.colours, S.data()}, {shape.spins, shape.colours, S.data()}));
}

TEST(contraction, of_three_quarks_is_the_sum_over_all_colours) {
  const auto S1 = random_numbers(144, 5), S2 = random_numbers(144, 6), S3 = random_numbers(144, 7);
  const phases_of_space phases(1, 8);
  rank_context one(single_rank()), ranks(world(), "fiber", 2);
  const auto alone =
      baryon_tensor(one.ctx, lattice(extents), {1, phases.whole.data()}, S1.data(), S2.data(), S3.data());
  const std::int64_t space = product(extents) / extents[0];
  const auto line = [&](const std::vector<number>& S, std::int64_t x, int pair, int i, int j) {
    return S[std::size_t(x * 144 + (pair / 4 * 3 + i) * 12 + pair % 4 * 3 + j)];
  };
  const auto epsilon = [](int i, int j, int k) { return double((j - i) * (k - i) * (k - j)) / 2; };
  for (const int spins : {0, 77, 1234, 4095}) {  // pairs of the three lines
    number sum = 0;
    for (std::int64_t x = space; x < 2 * space; ++x)  // t = 1
      for (int sink = 0; sink < 27; ++sink)
        for (int source = 0; source < 27; ++source) {
          const int i = sink / 9, j = sink / 3 % 3, k = sink % 3, i1 = source / 9, j1 = source / 3 % 3, k1 = source % 3;
          const double sign = epsilon(i, j, k) * epsilon(i1, j1, k1);
          if (sign)
            sum += sign * phases.whole[std::size_t(x - space)] * line(S1, x, spins / 256, i, i1) *
                   line(S2, x, spins / 16 % 16, j, j1) * line(S3, x, spins % 16, k, k1);
        }
    EXPECT_LT(std::abs(alone[std::size_t(4096 + spins)] - sum), 1e-10 * std::abs(sum) + 1e-9) << spins;
  }
  for (const auto& grid : grids(extents)) {
    const lattice lat(extents, grid, world().rank());
    const auto a = part_of_rank(lat, S1, 144), b = part_of_rank(lat, S2, 144), c = part_of_rank(lat, S3, 144);
    const auto turns = phases.part(lat);
    EXPECT_EQ(baryon_tensor(ranks.ctx, lat, {1, turns.data()}, a.data(), b.data(), c.data()), alone) << to_string(grid);
  }
}

TEST(contraction, sums_of_three_quarks_are_rows_times_the_tensor_on_any_grid) {
  const auto S1 = random_numbers(144, 9), S2 = random_numbers(144, 10), S3 = random_numbers(144, 11);
  const int count = 18, momenta = 3, all = 4096;  // more rows than a chunk holds
  const phases_of_space phases(momenta, 12);
  std::vector<number> rows(std::size_t(count * all));
  std::mt19937_64 random(13);
  std::normal_distribution<double> normal;
  for (int row = 1; row < count; ++row)  // the first row is zero
    for (int k = 0; k < 40; ++k) {
      const double x = normal(random);
      rows[std::size_t(row * all) + random() % all] = k % 3 == 0   ? number(x)
                                                      : k % 3 == 1 ? number(0, x)
                                                                   : number(x, -x);
    }
  rank_context one(single_rank()), ranks(world(), "fiber", 2);
  const momentum_phases of{momenta, phases.whole.data()};
  const auto tensor = baryon_tensor(one.ctx, lattice(extents), of, S1.data(), S2.data(), S3.data());
  const auto alone = baryon_sums(one.ctx, lattice(extents), of, S1.data(), S2.data(), S3.data(), count, rows.data());
  ASSERT_EQ(alone.size(), momenta * slices * count);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    number expected = 0;
    for (std::size_t k = 0; k < all; ++k) expected += rows[i % count * all + k] * tensor[i / count * all + k];
    EXPECT_LT(std::abs(alone[i] - expected), 1e-9) << i;
  }
  for (const auto& grid : grids(extents)) {
    const lattice lat(extents, grid, world().rank());
    const auto a = part_of_rank(lat, S1, 144), b = part_of_rank(lat, S2, 144), c = part_of_rank(lat, S3, 144);
    const auto turns = phases.part(lat);
    EXPECT_EQ(baryon_sums(ranks.ctx, lat, {momenta, turns.data()}, a.data(), b.data(), c.data(), count, rows.data()),
              alone)
        << to_string(grid);
  }
}

}  // namespace
}  // namespace plaq::lqcd
