// A matrix on the lattice of aggregates, and its inverse.
#pragma once
#include <array>
#include <complex>
#include <memory>
#include <vector>

#include "plaq/lqcd/aggregates.hpp"
#include "plaq/lqcd/gcr.hpp"

namespace plaq::lqcd {

/// So many rows of `size` complex numbers (multigrid_kernel.hpp): those of a rank's aggregates, or of one coarse
/// parity.
struct coarse_vector {
  coarse_vector(std::int64_t count, int size) : size(size), count(count), numbers(2 * count * size) {}
  float* row(std::int64_t i) { return numbers.data() + 2 * i * size; }
  const float* row(std::int64_t i) const { return numbers.data() + 2 * i * size; }

  int size;
  std::int64_t count;
  std::vector<float> numbers;
};

/// Exact sums of what single precision gives on each site. Collective.
std::complex<double> dot(engine& by, const coarse_vector& x, const coarse_vector& y);
double norm2(engine& by, const coarse_vector& x);
void add(engine& by, coarse_vector& y, std::complex<double> a, const coarse_vector& x);

/// Matrices of an aggregate, row by row: `here` leads from it to itself, ahead[mu] to it from the one ahead in
/// direction mu.
/// What leads the other way is gamma_5 ahead[mu]^+ gamma_5, gamma_5 = 1 on the first half of a row and -1 on the
/// other.
struct coarse_links {
  std::vector<float> here;
  std::array<std::vector<float>, 4> ahead;
};

/// M_c = X (1 + Y) with what leads from a site to itself, X, and X^-1 times what leads to it from its neighbours, Y.
/// Even sites have odd neighbours, so M_c x = b is solved on odd ones by
///   (1 - Y_oe Y_eo) x_o = s_o - Y_oe s_e,  s = X^-1 b,  x_e = s_e - Y_eo x_o.
/// Bits do not depend on ranks and workers. Collective; one call at a time.
class coarse_matrix {
 public:
  coarse_matrix(engine& by, std::shared_ptr<const aggregates> on, int size, const coarse_links& links);

  /// out = M_c in.
  void apply(coarse_vector& out, const coarse_vector& in);
  /// x = M_c^-1 b until the residual on odd sites has fallen so far, at most so many steps; returns these.
  int solve(coarse_vector& x, const coarse_vector& b, double fraction, int most_steps);

  coarse_vector vector() const { return {on_->count(), size_}; }

 private:
  /// out = Y in on the aggregates of a coarse parity, from those of the other; both have theirs alone.
  void hop(coarse_vector& out, const coarse_vector& in, int parity);
  /// out = matrices in, [aggregate][column][row].
  void multiply(const std::vector<float>& matrices, coarse_vector& out, const coarse_vector& in) const;
  coarse_vector half(const coarse_vector& of, int parity) const;
  void put(const coarse_vector& half, int parity, coarse_vector& to) const;

  engine& by_;
  std::shared_ptr<const aggregates> on_;
  int size_;
  std::vector<float> X_, inverse_, Y_;  ///< Y_ [aggregate][direction][column][row]
  std::array<std::vector<float>, neighbours> came_;
  directions<coarse_vector> space_;
};

}  // namespace plaq::lqcd
