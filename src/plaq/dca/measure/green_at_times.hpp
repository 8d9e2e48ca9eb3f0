// Green's function of a configuration at a few random times.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "plaq/dca/walk/g0_table.hpp"
#include "plaq/dca/walk/sample.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca {

namespace measures {
/// Operator of a correlation function: S^z = (n_up - n_down) / 2, or n = n_up + n_down.
enum class two_point { spin, charge };
}  // namespace measures

/// Green's function g = <c c+> at 0+ between all points (site i, time t_a) of a configuration,
///   g(ia, jb) = g0(ia, jb) + sum_pq g0(ia, p) M_pq g0(q, jb).
/// Point a * sites + i is site i at time t_a. Sides are the spins: 0 up, 1 down.
class green_at_times {
 public:
  static constexpr int times = 4;

  explicit green_at_times(std::shared_ptr<const g0_table> g0);

  /// Evaluates all functions of a sample; t_a = beta * unit_interval(words[a]).
  void evaluate(const sample& s, const std::array<std::uint64_t, times>& words);

  double beta() const { return g0_->beta(); }
  int sites() const { return sites_; }
  int points() const { return times * sites_; }

  double operator()(int side, int row, int column) const { return g_[side][row * points() + column]; }
  /// Returns <n_sigma> at a point.
  double occupation(int side, int point) const { return occupation_[side][point]; }
  /// Returns <S^z S^z> or <n n> of two points, by Wick's theorem.
  double product(measures::two_point of, int row, int column) const {
    return product_[std::size_t(of)][row * points() + column];
  }

  /// Calls f(row, column, R) for all pairs of points at one time, or at two times, where R = R_i - R_j.
  template <class F>
  void for_each_pair(bool same_time, F&& f) const {
    const int* difference = g0_->difference().data();
    for (int a = 0; a < times; ++a)
      for (int i = 0; i < sites_; ++i)
        for (int b = 0; b < times; ++b) {
          if ((a == b) != same_time) continue;
          for (int j = 0; j < sites_; ++j) f(a * sites_ + i, b * sites_ + j, difference[i * sites_ + j]);
        }
  }

 private:
  void apply_wick();

  std::shared_ptr<const g0_table> g0_;
  int sites_;
  linalg::matrix<float> from_, to_, half_;  // k x points
  linalg::matrix<float> change_;            // points x points
  std::array<std::vector<double>, 2> g_;    // [row][column]
  std::array<std::vector<double>, 2> occupation_;
  std::array<std::vector<double>, 2> product_;  // [row][column] of spin, charge
};

}  // namespace plaq::dca
