// A level of multigrid below the lattice itself.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "plaq/lqcd/solver/coarse.hpp"
#include "plaq/lqcd/solver/transfer.hpp"

namespace plaq::lqcd {

/// Options of a cycle.
struct cycle_options {
  int smoothing = 6;             ///< steps after the correction from the level below
  double coarse_residual = 0.1;  ///< by which the residual on the level below falls in a cycle
  int coarse_steps = 100;        ///< there at most
};

/// Coarse matrix with its solver. On the last level that is GCR; above it, GCR around cycles with the level below,
/// whose test vectors are those of this level restricted. Collective; one call at a time.
class coarse_level {
 public:
  /// Matrix with these couplings on the first of the partitions; the others are those of levels below.
  coarse_level(context& ctx, std::span<const std::shared_ptr<const aggregation>> partitions, const coarse_links& links,
               const std::vector<coarse_vector>& tests, const cycle_options& options);

  /// Solves M_c x = b until the residual has fallen by options.coarse_residual; returns the steps.
  int solve(coarse_vector& x, const coarse_vector& b);
  /// Computes V^+ f, and V c, with the level below.
  coarse_vector restrict(const coarse_vector& f);
  void prolong(coarse_vector& f, const coarse_vector& c);

  coarse_matrix& matrix() { return matrix_; }
  coarse_level* below() { return below_.get(); }  ///< null on the last level

 private:
  /// Computes z near (1 - Y_oe Y_eo)^-1 r by a cycle, and w = (1 - Y_oe Y_eo) z.
  void precondition(coarse_vector& z, coarse_vector& w, const coarse_vector& r);
  /// Copies rows to numbers by slot, and back; `first` is the aggregate of the first row.
  void gather(const coarse_vector& f, std::int64_t first);
  void scatter(coarse_vector& f, std::int64_t first) const;

  context& ctx_;
  std::shared_ptr<const aggregation> sites_;
  cycle_options options_;
  coarse_matrix matrix_;
  std::optional<transfer> V_;
  std::unique_ptr<coarse_level> below_;
  std::vector<float> numbers_;
  krylov_space<coarse_vector> smoother_;
};

}  // namespace plaq::lqcd
