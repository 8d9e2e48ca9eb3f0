// Preconditioner for light quarks: adaptive aggregation multigrid (Frommer et al., arXiv:1303.1377).
//
// Test vectors v_j are noise after some steps of inverse iteration, rich in the lowest modes. Cut into aggregates and
// chiralities and made orthonormal there, they are the columns of V; the smoother reduces the remaining components. The
// coarse matrix V^+ M V is gamma_5-hermitian as M is, since V keeps chiralities apart. On odd sites, where M^ x = r is
// M x = (0, r), a cycle is
//   z = V (V^+ M V)^-1 V^+ r,  then some steps of minimal residuals (GCR) for M^ z = r.
// The setup repeats inverse iteration with the cycle in place of M^^-1, which improves the test vectors.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "plaq/lqcd/dirac/wilson.hpp"
#include "plaq/lqcd/solver/coarse.hpp"

namespace plaq::lqcd {

/// Options of multigrid.
struct multigrid_options {
  int vectors = 16;              ///< a multiple of 16
  coordinates box{0, 0, 0, 0};   ///< extents of aggregates; 0: choose_aggregates
  int rounds = 3;                ///< of inverse iteration with the method itself
  int smoothing = 6;             ///< steps on the fine lattice in a cycle
  double coarse_residual = 0.1;  ///< by which the residual on the coarse lattice falls in a cycle
  int coarse_steps = 100;        ///< in a cycle at most
};

/// Multigrid for an operator, which must outlive it. Bits do not depend on ranks, workers or layout. Collective; one
/// call at a time.
class multigrid {
 public:
  /// Sets up vectors and coarse matrix. input_error if aggregates do not fit, or options are out of range.
  multigrid(context& ctx, wilson<float>& M, const multigrid_options& options = {});
  /// Takes options and test vectors from another one, of a similar gauge field and the same layout.
  multigrid(context& ctx, wilson<float>& M, const multigrid& similar);

  /// Computes z near M^^-1 r, and w = M^ z, on odd sites; with `dagger` of M^^+ = gamma_5 M^(-mu) gamma_5, for which
  /// the cycle of mu is a preconditioner too.
  void precondition(spinors<float>& z, spinors<float>& w, const spinors<float>& r, bool dagger = false);

  /// Computes V^+ f, and V c, on all sites or on odd ones.
  coarse_vector restrict(const spinors<float>& f);
  void prolong(spinors<float>& f, const coarse_vector& c);
  coarse_matrix& coarse() { return *coarse_; }
  const std::shared_ptr<const site_layout>& layout() const { return M_.layout(); }

 private:
  /// Computes V and the coarse matrix from the test vectors.
  void build();
  coarse_links galerkin();

  context& ctx_;
  wilson<float>& M_;
  multigrid_options options_;
  std::shared_ptr<const aggregation> aggregates_;
  std::vector<spinors<float>> tests_;  ///< test vectors on odd sites
  std::vector<float> V_;               ///< [slot][12][row of vectors]
  std::vector<float> numbers_;         ///< [slot][24]
  std::optional<coarse_matrix> coarse_;
  spinors<float> residual_;
  krylov_space<spinors<float>> smoother_;
};

}  // namespace plaq::lqcd
