// Green's function of a configuration at a few random times, and products of densities by Wick's theorem.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plaq/dca/ctint/problem.hpp"
#include "plaq/dca/ctint/sample.hpp"
#include "plaq/linalg/matrix.hpp"

namespace plaq::dca::ctint {

/// Green's function g = <c c+> at 0+ between all points (flavour x, time t_a) of a configuration, in every block,
///   g(xa, yb) = g0(xa, yb) + sum_pq g0(xa, p) M_pq g0(q, yb).
class green_at_times {
 public:
  static constexpr int times = 4;

  /// @pre The cluster outlives this object.
  explicit green_at_times(const interacting_cluster& cluster);

  /// Evaluates all blocks of a sample; t_a = beta * unit_interval(words[a]).
  void evaluate(const sample& s, const std::array<std::uint64_t, times>& words);

  /// Returns g(xa, yb) of a block.
  double operator()(int block, int x, int a, int y, int b) const {
    return g_[std::size_t(block)][std::size_t((a * flavours_ + x) * times * flavours_ + b * flavours_ + y)];
  }
  /// Returns <c+_x c_y> at time t_a.
  double bilinear(int block, int x, int y, int a) const { return (x == y) - (*this)(block, y, a, x, a); }
  double occupation(int block, int x, int a) const {
    return occupation_[std::size_t(block)][std::size_t(a * flavours_ + x)];
  }
  /// Adds <n_x(t_a) n_y(t_b)> to sum[y], for all y.
  void add_density_products(int block, int x, int a, int other, int b, double* sum) const;
  /// Returns <c+_p c_q c+_p' c_q'> of the legs of a vertex of this type at a cell, at time t_a.
  double vertex_product(const vertex_type& type, int cell, int a) const;

 private:
  const interacting_cluster& cluster_;
  int flavours_;
  void add_bath(int block);

  std::vector<int> every_flavour_;
  linalg::matrix<float> from_, to_, half_;      // k x points
  linalg::matrix<float> change_;                // points x points
  std::vector<double> at_one_time_, one_pair_;  // [x], [difference]
  std::vector<double> bath_;                    // of the last block, [row][column]
  std::array<double, times> t_{};
  std::vector<std::vector<double>> g_, turned_;  // [block][row][column] and [block][column][row]
  std::vector<std::vector<double>> occupation_;  // [block][row]
};

}  // namespace plaq::dca::ctint
