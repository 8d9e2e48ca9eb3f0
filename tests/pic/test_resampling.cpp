// Merging and splitting of macro-particles.
#include <gtest/gtest.h>

#include <cmath>

#include "plaq/pic/processes/resampling.hpp"
#include "whole.hpp"

namespace plaq::pic::test {
namespace {

using vector = std::array<double, 3>;

double gamma_of(const vector& u) { return std::sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]); }

/// Packet of particles with momenta around a drift.
struct packet {
  std::vector<double> w;
  std::vector<vector> u;
  packet(std::uint64_t number, std::size_t size, const vector& drift, const vector& spread) {
    for (std::size_t i = 0; i < size; ++i) {
      w.push_back(1.5 + drawn(number, 10 * i));
      u.push_back(drift);
      for (std::size_t c = 0; c < 3; ++c) u.back()[c] += spread[c] * drawn(number, 10 * i + 1 + c);
    }
  }
};

TEST(merging, keeps_momentum_and_energy) {
  const vector drifts[] = {{0, 0, 0}, {1e-3, 0, 0}, {3, -4, 1}, {1e3, 2, 0}};
  const vector spreads[] = {{1e-6, 1e-6, 1e-6}, {1, 2, 0.1}, {0, 0, 1e-2}, {50, 1, 1}};
  std::uint64_t number = 0;
  for (const vector& drift : drifts)
    for (const vector& spread : spreads)
      for (const std::size_t size : {3u, 4u}) {
        const packet all(++number, size, drift, spread);
        const auto [u, direction] = merge_momenta(all.w, all.u, 0.5 + 0.5 * drawn(number));
        double weight = 0, kinetic = 0;
        vector momentum{};
        for (std::size_t i = 0; i < size; ++i) {
          const vector& v = all.u[i];
          weight += all.w[i];
          kinetic += all.w[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / (1 + gamma_of(v));
          for (std::size_t c = 0; c < 3; ++c) momentum[c] += all.w[i] * v[c];
        }
        double after = 0;
        for (const vector& v : u) after += 0.5 * weight * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / (1 + gamma_of(v));
        EXPECT_NEAR(after, kinetic, 1e-13 * kinetic) << number;
        for (std::size_t c = 0; c < 3; ++c)
          EXPECT_NEAR(0.5 * weight * (u[0][c] + u[1][c]), momentum[c], 1e-14 * weight * gamma_of(u[0])) << number;
      }
}

TEST(merging, keeps_the_tensor_of_temperature_in_the_mean) {
  const vector spread{0.03, 0.01, 0.002};
  std::array<double, 6> change{}, squares{};  // xx, yy, zz, xy, yz, zx
  const int packets = 20000;
  for (int n = 0; n < packets; ++n) {
    const packet all(std::uint64_t(1000 + n), 4, {0.05, 0, 0}, spread);
    const auto [u, direction] = merge_momenta(all.w, all.u, 0.5 + 0.5 * drawn(7, std::uint64_t(n)));
    double weight = 0;
    std::array<double, 6> sum{};
    const auto add = [&](double w, const vector& v) {
      for (std::size_t c = 0; c < 3; ++c) sum[c] += w * v[c] * v[c], sum[3 + c] += w * v[c] * v[(c + 1) % 3];
    };
    for (std::size_t i = 0; i < 4; ++i) add(-all.w[i], all.u[i]), weight += all.w[i];
    for (const vector& v : u) add(0.5 * weight, v);
    for (std::size_t c = 0; c < 6; ++c) change[c] += sum[c], squares[c] += sum[c] * sum[c];
  }
  for (std::size_t c = 0; c < 6; ++c) {
    const double error = std::sqrt(squares[c]);
    EXPECT_LT(std::abs(change[c]), 4 * error + 1e-3 * packets * 1e-4) << c;
  }
}

TEST(merging, of_equal_momenta_changes_none) {
  const packet all(1, 4, {1, 2, 3}, {0, 0, 0});
  const auto [u, direction] = merge_momenta(all.w, all.u, 0.3);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(u[0][c], double(c + 1), 1e-15) << u[1][c];
}

/// Number, weight, momenta, kinetic energy, weighted positions.
std::vector<double> sums_of(const particles<double>& all, int dimensions) {
  std::vector<double> out(9);
  out[0] = double(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const vector u{all.u[0][i], all.u[1][i], all.u[2][i]};
    out[1] += all.w[i];
    for (std::size_t c = 0; c < 3; ++c) out[2 + c] += all.w[i] * u[c];
    out[5] += all.w[i] * (gamma_of(u) - 1);
    for (int d = 0; d < dimensions; ++d) out[std::size_t(6 + d)] += all.w[i] * (all.cell[d][i] + all.x[d][i]);
  }
  return out;
}

TEST(resampling, keeps_the_sums_of_all_cells_and_bounds_their_numbers) {
  for (const bool splits : {false, true})
    for (const int dimensions : {1, 2, 3}) {
      plan p = periodic(dimensions, 1, 4, 1);
      p.electrostatic = true;
      p.species_list[0].tracked = true;
      p.resamplings = {{.name = "m", .splits = splits, .count = splits ? 40 : 9, .every = 2, .least_weight = 0.3}};
      patch<double> self(p, {});
      self.species[0] = some_particles<double>(self.mesh, splits ? 100 : dimensions == 3 ? 1500 : 500);
      for (std::size_t i = 0; i < self.species[0].size(); ++i) self.species[0].id.push_back(self.new_id(p));
      const auto before = sums_of(self.species[0], dimensions);
      self.row.assign(record::length(p), 0);
      self.step = 3;
      EXPECT_FALSE(resample(p, self));
      self.step = 4;
      EXPECT_TRUE(resample(p, self));
      const auto after = sums_of(self.species[0], dimensions);
      for (std::size_t k = 1; k < before.size(); ++k) EXPECT_NEAR(after[k], before[k], 1e-11 * before[1]) << k;
      EXPECT_EQ(std::abs(after[0] - before[0]), self.row[record::resampled(p, 0)]);
      std::map<std::array<int, 3>, int> counts;
      for (std::size_t i = 0; i < self.species[0].size(); ++i) {
        std::array<int, 3> cell{};
        for (int d = 0; d < dimensions; ++d) {
          cell[std::size_t(d)] = self.species[0].cell[d][i];
          EXPECT_TRUE(self.species[0].x[d][i] >= 0 && self.species[0].x[d][i] <= 1);
        }
        ++counts[cell];
        EXPECT_GE(self.species[0].w[i], 0.25);
      }
      for (const auto& [cell, count] : counts) EXPECT_TRUE(splits || count <= 9) << count;
      auto ids = self.species[0].id;
      std::ranges::sort(ids);
      EXPECT_EQ(std::ranges::adjacent_find(ids), ids.end());
    }
}

/// Plan of warm electrons and ions that are merged and split every few steps.
plan with_resampling(int dimensions, int order, bool electrostatic) {
  plan p = periodic(dimensions, order, 12, 2);
  p.electrostatic = electrostatic;
  p.species_list.push_back({"ions", 1, 25, pusher::boris, true});
  p.resamplings = {{.name = "fewer", .species = 0, .count = 6, .every = 2},
                   {.name = "more", .species = 1, .splits = true, .count = 8, .least_weight = 1e-4},
                   {.name = "fewer_ions", .species = 1, .count = 10, .every = 3}};
  return p;
}

TEST(resampling, results_do_not_depend_on_ranks_and_checkpoints) {
  for (const bool electrostatic : {false, true}) {
    const plan p = with_resampling(2, 2, electrostatic);
    const run one = same_on_any_ranks(p, [](plasma& s) {
      fill(s, {.per_cell = 8, .thermal = 0.5});
      s.start();
    });
    for (std::size_t n = 0; n < 3; ++n) EXPECT_GT(sum_of(one, p, record::resampled(p, n)), 50) << n;
    for (std::size_t row = 0; row < 12; ++row) EXPECT_LT(at(one, p, row, record::gauss(p)), 1e-12) << row;
  }
}

TEST(resampling, keeps_gauss_s_law_with_maxwell_s_equations) {
  for (const int dimensions : {1, 2, 3})
    for (const int order : {1, 3})
      for (const bool single : {false, true}) {
        const plan p = with_resampling(dimensions, order, false);
        const run result = on(1, p, {.pool = {.workers = 1}, .single = single}, [&](plasma& s) {
          fill(s, {.per_cell = 8, .thermal = 0.5});
          s.start();
          return s.advance(4, true);
        });
        ASSERT_EQ(result.errors, std::vector<std::string>{""}) << dimensions << order << single;
        EXPECT_GT(at(result, p, 2, record::resampled(p, 0)), 0);
        for (std::size_t row = 0; row < 4; ++row)
          EXPECT_LT(at(result, p, row, record::gauss(p)), single ? 1e-4 : 1e-12) << dimensions << order << row;
      }
}

}  // namespace
}  // namespace plaq::pic::test
