// Preconditioner for light quarks: adaptive aggregation multigrid (Frommer et al., arXiv:1303.1377).
//
// Test vectors v_j are noise after some steps of inverse iteration, rich in the lowest modes. Cut into aggregates and
// chiralities and made orthonormal there, they are the columns of V; the smoother reduces the remaining components. The
// coarse matrix V^+ M V is gamma_5-hermitian as M is, since V keeps chiralities apart. On odd sites, where M^ x = r is
// M x = (0, r), a cycle is
//   z = V (V^+ M V)^-1 V^+ r,  then some steps of minimal residuals (GCR) for M^ z = r.
// The setup repeats inverse iteration with the cycle in place of M^^-1, which improves the test vectors. With three and
// more levels the coarse matrix is inverted likewise, by GCR around cycles (coarse_level.hpp).
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "plaq/lqcd/dirac/wilson.hpp"
#include "plaq/lqcd/solver/coarse_level.hpp"
#include "plaq/lqcd/solver/spinor_slots.hpp"
#include "plaq/lqcd/solver/transfer.hpp"

namespace plaq::lqcd {

/// Options of multigrid.
struct multigrid_options {
  int vectors = 16;  ///< a multiple of 16
  std::vector<coordinates>
      boxes{};            ///< extents of aggregates on each level, in sites of the one above; empty: two levels
  int rounds = 3;         ///< of inverse iteration with the method itself
  cycle_options cycle{};  ///< of all levels
};

/// Multigrid for an operator, which must outlive it. Bits do not depend on ranks, workers or layout. Collective; one
/// call at a time.
class multigrid {
 public:
  /// Sets up vectors and coarse matrix. input_error if aggregates do not fit, or options are out of range.
  multigrid(context& ctx, wilson<float>& M, const multigrid_options& options = {});
  /// Takes options and test vectors from another one, of a similar gauge field and the same layout.
  multigrid(context& ctx, wilson<float>& M, const multigrid& similar);
  /// Takes test vectors on odd sites as they are.
  multigrid(context& ctx, wilson<float>& M, const multigrid_options& options, std::vector<spinors<float>> tests);
  /// Repeats inverse iteration of the test vectors with the method itself.
  void improve(int rounds);

  /// Computes z near M^^-1 r, and w = M^ z, on odd sites; with `dagger` of M^^+ = gamma_5 M(-mu) gamma_5, for which
  /// the cycle of mu is a preconditioner too.
  void precondition(spinors<float>& z, spinors<float>& w, const spinors<float>& r, bool dagger = false);

  /// Computes V^+ f, and V c, on all sites or on odd ones.
  coarse_vector restrict(const spinors<float>& f);
  void prolong(spinors<float>& f, const coarse_vector& c);
  coarse_level& below() { return *below_; }
  const std::vector<spinors<float>>& tests() const { return tests_; }  ///< test vectors on odd sites
  const std::shared_ptr<const site_layout>& layout() const { return M_.layout(); }

 private:
  void normalise(spinors<float>& v);
  /// Computes V and the levels below from the test vectors.
  void build();

  context& ctx_;
  wilson<float>& M_;
  multigrid_options options_;
  std::vector<std::shared_ptr<const aggregation>> partitions_;
  std::shared_ptr<const spinor_slots> slots_;
  std::vector<spinors<float>> tests_;  ///< test vectors on odd sites
  transfer V_;
  std::vector<float> numbers_;
  std::optional<coarse_level> below_;
  spinors<float> residual_;
  krylov_space<spinors<float>> smoother_;
};

}  // namespace plaq::lqcd
