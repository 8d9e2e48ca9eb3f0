// Matrix on the coarse lattice of aggregates.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "plaq/lqcd/solver/aggregation.hpp"
#include "plaq/lqcd/solver/coarse_vector.hpp"
#include "plaq/lqcd/solver/gcr.hpp"

namespace plaq::lqcd {

/// Matrices of aggregates, row by row: `diagonal` couples an aggregate to itself, ahead[mu] to the one ahead in
/// direction mu. The reverse coupling is gamma_5 ahead[mu]^+ gamma_5, with gamma_5 = 1 on the first half of a row and
/// -1 on the second.
struct coarse_links {
  std::vector<float> diagonal;
  std::array<std::vector<float>, 4> ahead;
};

/// Coarse matrix M_c = X (1 + Y): X couples a site to itself, Y is X^-1 times the couplings to its neighbours. Even
/// sites have odd neighbours, so M_c x = b is solved on odd ones by
///   (1 - Y_oe Y_eo) x_o = s_o - Y_oe s_e,  s = X^-1 b,  x_e = s_e - Y_eo x_o.
/// Bits do not depend on ranks and workers. Collective; one call at a time.
class coarse_matrix {
 public:
  coarse_matrix(context& ctx, std::shared_ptr<const aggregation> aggregates, int size, const coarse_links& links);

  /// Computes out = M_c in.
  void apply(coarse_vector& out, const coarse_vector& in);
  /// Computes out = (1 - Y_oe Y_eo) in on odd sites.
  void apply_odd(coarse_vector& out, const coarse_vector& in);
  /// Computes out = X in on odd sites: (1 - Y_oe Y_eo) x_o = r is M_c x = (0, X r).
  void multiply_odd(coarse_vector& out, const coarse_vector& in) const;

  /// Sets a direction z for the residual r on odd sites, and w = (1 - Y_oe Y_eo) z.
  using direction = std::function<void(coarse_vector& z, coarse_vector& w, const coarse_vector& r)>;
  /// Solves M_c x = b by GCR with these directions, until the residual on odd sites has fallen by `fraction`, in at
  /// most max_steps; returns the steps.
  int solve(coarse_vector& x, const coarse_vector& b, double fraction, int max_steps, const direction& next);

  coarse_vector vector() const { return {aggregates_->count(), size_}; }
  coarse_vector odd_vector() const { return {aggregates_->count(1), size_}; }

 private:
  /// Computes out = Y in on the aggregates of a coarse parity from those of the other; each vector has one parity.
  void hop(coarse_vector& out, const coarse_vector& in, int parity);
  /// Computes out = matrices in on aggregates from `first` on; matrices are [aggregate][column][row].
  void multiply(const std::vector<float>& matrices, std::int64_t first, coarse_vector& out,
                const coarse_vector& in) const;
  coarse_vector half(const coarse_vector& whole, int parity) const;
  void copy_half(const coarse_vector& half, int parity, coarse_vector& to) const;

  context& ctx_;
  std::shared_ptr<const aggregation> aggregates_;
  int size_;
  std::vector<float> X_, inverse_, Y_;  ///< Y_ [aggregate][direction][column][row]
  coarse_vector even_;
  std::array<std::vector<float>, neighbours> received_;
  krylov_space<coarse_vector> space_;
};

}  // namespace plaq::lqcd
