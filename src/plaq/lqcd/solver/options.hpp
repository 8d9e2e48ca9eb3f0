// Options and results of solvers.
#pragma once
#include <concepts>
#include <string>

namespace plaq::lqcd {

/// Precision of the steps between two updates, which are in double precision. Half is single with links in 16 bits
/// (fixed16.hpp). When the residual stagnates, steps continue in the next higher precision.
enum class precision { in_double, in_single, in_half };

/// Method of a solver: cg solves M^^+ M^ (a positive matrix); bicgstab (van der Vorst, 1992), gcr (gcr.hpp, restarted
/// after 32 directions) and multigrid (multigrid.hpp, with GCR in single precision around it) solve M^ itself.
enum class solver_method { cg, bicgstab, gcr, multigrid };

/// Options of a solver.
struct solver_options {
  solver_method method = solver_method::cg;
  precision steps = precision::in_single;
  double residual = 1e-10;  ///< |eta - M psi| / |eta| of the solution
  int max_steps = 100000;
  double update = 0;  ///< the residual is recomputed in double precision when it has fallen by this; 0: update_share()
};

/// Fall of the residual between two updates, with spinors of T and links stored as S: as much as their rounding allows.
template <class T, class S = T>
double update_share(const solver_options& options) {
  if (options.update > 0) return options.update;
  return std::same_as<T, double> ? 1e-5 : std::same_as<S, T> ? 1e-2 : 0.1;
}

/// Result of a solver.
struct solver_result {
  enum class stop_reason { converged, stalled, out_of_steps } reason;
  int steps;        ///< applications of M^^+ M^ (cg), pairs of M^ (bicgstab), directions (gcr), cycles (multigrid)
  int updates;      ///< recomputed residuals
  double residual;  ///< |eta - M psi| / |eta| of the final psi, on all sites

  std::string to_string() const;
};

/// Throws input_error unless the residual is positive.
void check_options(const solver_options& options);

}  // namespace plaq::lqcd
