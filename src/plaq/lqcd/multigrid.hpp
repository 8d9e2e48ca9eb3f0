// A preconditioner for light quarks: adaptive aggregation multigrid (Frommer et al., arXiv:1303.1377).
//
// Test vectors v_j are what some steps of inverse iteration make of noise, rich in the lowest modes. Cut into
// aggregates, chiralities apart, and made orthonormal there, they are the columns of V; what they cannot show the
// smoother takes care of. The coarse matrix is V^+ M V; V has chiralities apart, so with gamma_5 on them it is as
// gamma_5-hermitian as M. On odd sites, where M^ x = r is M x = (0, r), a cycle is
//   z = V (V^+ M V)^-1 V^+ r,  then some steps of minimal residuals (GCR) for M^ z = r.
// It takes the place of M^^-1 in the setup too: inverse iteration with it makes the test vectors better.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "plaq/lqcd/coarse.hpp"
#include "plaq/lqcd/wilson.hpp"

namespace plaq::lqcd {

struct multigrid_options {
  int vectors = 16;              ///< a multiple of 16
  coordinates box{0, 0, 0, 0};   ///< extents of aggregates; 0: aggregates_for
  int rounds = 3;                ///< of inverse iteration with the method itself
  int smoothing = 6;             ///< steps on the fine lattice in a cycle
  double coarse_residual = 0.1;  ///< by which the residual on the coarse lattice falls in a cycle
  int coarse_steps = 100;        ///< in a cycle at most
};

/// For a matrix that outlives it. Bits do not depend on ranks, workers or layout. Collective; one call at a time.
class multigrid {
 public:
  /// input_error where aggregates do not fit, or options make no sense.
  multigrid(engine& by, wilson<float>& M, const multigrid_options& how = {});

  /// z near M^^-1 r, and w = M^ z, on odd sites.
  void precondition(spinors<float>& z, spinors<float>& w, const spinors<float>& r);

  /// V^+ f and V c, of all sites or of odd ones.
  coarse_vector restricted(const spinors<float>& f);
  void prolong(spinors<float>& f, const coarse_vector& c);
  coarse_matrix& coarse() { return *coarse_; }
  const std::shared_ptr<const layout>& where() const { return M_.where(); }

 private:
  /// V and the coarse matrix from test vectors on odd sites.
  void build(const std::vector<spinors<float>>& odd);
  coarse_links galerkin();

  engine& by_;
  wilson<float>& M_;
  multigrid_options how_;
  std::shared_ptr<const aggregates> on_;
  std::vector<float> V_;        ///< [slot][12][row of vectors]
  std::vector<float> numbers_;  ///< [slot][24]
  std::optional<coarse_matrix> coarse_;
  spinors<float> residual_;
  directions<spinors<float>> smoother_;
};

}  // namespace plaq::lqcd
