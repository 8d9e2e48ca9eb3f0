// M psi = eta by Krylov methods, in double precision or mostly in single.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plaq/lqcd/multigrid.hpp"
#include "plaq/lqcd/wilson.hpp"

namespace plaq::lqcd {

/// Of the steps between two updates, which are in double precision. Half is single with links in 16 bits
/// (fixed16.hpp). Where they bring the residual no further, steps go on in the precision above.
enum class precision { in_double, in_single, in_half };

struct solver_options {
  enum class method_kind { cg, bicgstab, multigrid } method = method_kind::cg;
  precision steps = precision::in_single;
  double residual = 1e-10;  ///< |eta - M psi| / |eta| to end with
  int most_steps = 100000;
  double update = 0.1;  ///< the residual is computed anew in double when it has fallen by this
};

struct solver_result {
  enum class ending { converged, stalled, out_of_steps } end;
  int steps;        ///< of the method: applications of M^^+ M^ (cg), pairs of M^ (bicgstab), cycles (multigrid)
  int updates;      ///< residuals computed anew
  double residual;  ///< |eta - M psi| / |eta| of what psi holds at the end, on all sites

  std::string in_words() const;
};

enum class falling;

/// Solves M psi = eta on all sites, by even-odd preconditioning; psi is overwritten, from zero on. Between two
/// updates the method goes on with its direction; the residual at an update, and at the end, is computed from psi
/// itself (Clark et al., arXiv:0911.3191, section 5), and `converged` says that it is not above what was asked for. A
/// residual that no longer falls from update to update, with steps in double precision too, ends the search:
/// `stalled`. cg solves M^^+ M^ (a positive matrix), bicgstab (van der Vorst, 1992) and multigrid (multigrid.hpp,
/// with GCR in single precision around it) M^ itself. The bits do not depend on ranks, workers or layout.
/// Collective. input_error for a residual that is not positive, and for multigrid whose steps are not to be in
/// single precision.
class solver {
 public:
  /// Takes a copy of the links. Fields have their layout; single precision has twice the lanes, so it fills
  /// registers as double precision does, or one if that has one.
  solver(engine& by, const links<double>& gauge, const wilson_parameters& p);

  /// Fields in the layout of the links.
  solver_result solve(spinors<double>& psi, const spinors<double>& eta, const solver_options& how = {});

  /// Solves (M^^+ M^) x = phi on odd sites, with M^ + i twist gamma_5 for M^; from zero on, by conjugate gradient,
  /// so that x is a function of the links alone. The residual is |phi - M^^+ M^ x| / |phi|.
  solver_result solve_normal(spinors<double>& x, const spinors<double>& phi, double twist,
                             const solver_options& how = {});

  /// Solves (M^^+ M^ + shift) x = phi on odd sites for several shifts that are not negative, in one Krylov space
  /// (Jegerlehner, hep-lat/9612014), in double precision. The residual is the largest of |phi - (M^^+ M^ + shift)
  /// x| / |phi|, computed from the x at the end.
  solver_result solve_shifted(std::vector<spinors<double>>& x, const spinors<double>& phi,
                              const std::vector<double>& shifts, const solver_options& how = {});

  /// The setup of multigrid, which its first solve does otherwise; what was there is forgotten.
  multigrid& set_up(const multigrid_options& how);

  const std::shared_ptr<const layout>& where() const { return M_.where(); }
  wilson<double>& matrix() { return M_; }

 private:
  /// Conjugate gradient on odd sites (conjugate_gradient.hpp) with steps in this precision.
  template <class T, class S, class Residual>
  solver_result::ending cg(spinors<double>& x, falling what, double target, double twist, const solver_options& how,
                           solver_result& done, Residual&& residual);
  /// Solves M^ x = b by corrections in precision T: residual(d) sets d = b - M^ x, whose size it returns;
  /// correct(sum, r, |r|, share), whose sum is zero, moves sum towards the solution of M^ sum = r, counts its steps,
  /// and may stop where |r| has fallen to this share.
  template <class T, class S, class Residual, class Correct>
  solver_result::ending corrected(spinors<double>& x, double target, const solver_options& how, solver_result& done,
                                  Residual&& residual, Correct&& correct);
  template <class T, class S, class Residual>
  solver_result::ending bicgstab(spinors<double>& x, double target, const solver_options& how, solver_result& done,
                                 Residual&& residual);
  template <class Residual>
  solver_result::ending with_multigrid(spinors<double>& x, double target, const solver_options& how,
                                       solver_result& done, Residual&& residual);
  template <class T, class S>
  wilson<T, S>& matrix_in();

  engine& by_;
  wilson<double> M_;
  std::unique_ptr<wilson<float>> single_;         ///< made when first wanted
  std::unique_ptr<wilson<float, fixed16>> half_;  ///< the same
  std::unique_ptr<multigrid> multigrid_;
  directions<spinors<float>> outer_;
};

}  // namespace plaq::lqcd
