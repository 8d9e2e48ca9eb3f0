// Solver of M psi = eta for a linear operator, by Krylov methods in double precision or mostly in single.
#pragma once
#include <memory>
#include <vector>

#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/dirac/linear_operator.hpp"
#include "plaq/lqcd/dirac/wilson.hpp"
#include "plaq/lqcd/solver/multigrid.hpp"
#include "plaq/lqcd/solver/options.hpp"

namespace plaq::lqcd {

enum class target_residual;

/// Operators in lower precision and multigrid of a solver, made when first used.
struct low_precision {
  std::unique_ptr<wilson<float>> single;
  std::unique_ptr<wilson<float, fixed16>> half;
  std::unique_ptr<lqcd::multigrid> multigrid;
  krylov_space<spinors<float>> outer;
};

/// Solver for an operator, which must outlive it, by even-odd preconditioning. Solutions start from zero, so they are
/// functions of operator and source alone.
///
/// Between two updates the method keeps its direction. The residual at an update, and at the end, is computed from psi
/// itself (Clark et al., arXiv:0911.3191, section 5); `converged` means that it does not exceed the requested one. The
/// solve is `stalled` when the residual stagnates from update to update with steps in double precision, too. Bits do
/// not depend on ranks, workers or layout. Collective. input_error for a residual that is not positive, and for
/// multigrid with steps in another than single precision.
///
/// An operator without single precision has all steps in double precision; input_error for another method than cg.
template <linear_operator Operator>
class solver {
 public:
  using vector = typename Operator::vector;

  /// Fields have the layout of M. Single precision has twice the lanes, so it fills registers as double precision does,
  /// or one lane if M has one.
  explicit solver(Operator& M) : M_(M) {}

  /// Solves M psi = eta on all sites; psi is overwritten.
  solver_result solve(vector& psi, const vector& eta, const solver_options& options = {});

  /// Solves (M^^+ M^) x = phi on odd sites by conjugate gradient, with M^ + i twist gamma_5 for M^. The residual is
  /// |phi - M^^+ M^ x| / |phi|.
  solver_result solve_normal(vector& x, const vector& phi, double twist, const solver_options& options = {})
    requires mixed_precision_operator<Operator>;

  /// Solves (M^^+ M^) x = phi on odd sites by multigrid: M^^+ y = phi and M^ x = y. The residual as above.
  solver_result solve_normal_by_multigrid(vector& x, const vector& phi, const solver_options& options = {})
    requires mixed_precision_operator<Operator>;

  /// Solves (M^^+ M^ + shift) x = phi on odd sites, or (M^+ M + shift) x = phi where phi is on all sites, for several
  /// shifts >= 0, in one Krylov space (Jegerlehner, hep-lat/9612014), in double precision. The residual is the largest
  /// of |phi - (M^+ M + shift) x| / |phi|, computed from the final x.
  solver_result solve_shifted(std::vector<vector>& x, const vector& phi, const std::vector<double>& shifts,
                              const solver_options& options = {});

  /// Sets up multigrid, which the first solve with it does otherwise; replaces an earlier setup.
  multigrid& set_up(const multigrid_options& options)
    requires mixed_precision_operator<Operator>;

  /// Sets up multigrid with the test vectors of another solver, of an operator on a field close to this one's. Takes a
  /// small part of the time of a setup. input_error if the other has none.
  multigrid& set_up_from(const solver& other)
    requires mixed_precision_operator<Operator>;

  /// Sets up multigrid with these test vectors on odd sites.
  void set_up_with(const multigrid_options& options, const std::vector<const vector*>& tests)
    requires mixed_precision_operator<Operator>;
  /// Improves the test vectors of the setup by a round of inverse iteration, for a field that has changed.
  void improve()
    requires mixed_precision_operator<Operator>;
  /// Returns the test vectors of the setup on odd sites. input_error without one.
  std::vector<vector> test_vectors()
    requires mixed_precision_operator<Operator>;

  Operator& matrix() { return M_; }
  const std::shared_ptr<const site_layout>& layout() const { return M_.layout(); }

 private:
  /// Throws unless x has the operator's layout and this subset, and y the same.
  void check_fields(const vector& x, const vector& y, sites subset) const;
  /// Computes x from zero by steps(|phi - M^^+ M^ x| that it aims at, result, residual); residual(r) sets r to this
  /// difference and returns its size.
  template <class Steps>
  solver_result solve_normal_by(Steps&& steps, vector& x, const vector& phi, double twist,
                                const solver_options& options);
  /// Makes steps by conjugate gradient (conjugate_gradient.hpp) on odd sites in this precision.
  template <class T, class S, class Residual>
  solver_result::stop_reason cg(vector& x, target_residual criterion, double target, double twist,
                                const solver_options& options, solver_result& result, Residual&& residual);
  /// Solves M^ x = b by corrections in precision T: residual(d) sets d = b - M^ x and returns its size.
  /// correct(sum, r, |r|, share) starts from sum = 0, moves it towards the solution of M^ sum = r, counts its steps,
  /// and may stop when |r| has fallen to this share.
  template <class T, class S, class Residual, class Correct>
  solver_result::stop_reason defect_correction(vector& x, double target, const solver_options& options,
                                               solver_result& result, Residual&& residual, Correct&& correct);
  template <class T, class S, class Residual>
  solver_result::stop_reason bicgstab(vector& x, double target, const solver_options& options, solver_result& result,
                                      Residual&& residual);
  template <class T, class S, class Residual>
  solver_result::stop_reason gcr_restarted(vector& x, double target, const solver_options& options,
                                           solver_result& result, Residual&& residual);
  template <class Residual>
  solver_result::stop_reason solve_with_multigrid(vector& x, double target, const solver_options& options,
                                                  solver_result& result, Residual&& residual);
  /// Calls steps.operator()<T, S>(), T of spinors and S of links, in this precision, then in those above it while the
  /// residual stagnates.
  template <class Steps>
  solver_result::stop_reason with_precision(precision p, Steps&& steps);
  /// Returns the operator with spinors of T and links stored as S.
  template <class T, class S>
  auto& matrix_as();

  Operator& M_;
  low_precision low_;
};

extern template class solver<wilson<double>>;
extern template class solver<doublet<double>>;

}  // namespace plaq::lqcd
