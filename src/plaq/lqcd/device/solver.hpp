// Solver of M psi = eta on a device, for Wilson and twisted-mass fermions, by conjugate gradient.
//
// Experimental: the kernels of lqcd/device have not run on a GPU. The tests run them on the host.
#pragma once
#include "plaq/lqcd/device/hopping.hpp"
#include "plaq/lqcd/solver/options.hpp"

namespace plaq::lqcd {
enum class target_residual;
}

namespace plaq::lqcd::device {

/// Solver on one GPU, or on the host in its place, for an operator on one rank, whose links are copied. Steps are in
/// any precision, residuals are recomputed in double precision as by lqcd::solver; half precision stores directions and
/// links in 16 bits. Numbers of the steps stay on the device, which decides when steps end. The bits of a solution
/// depend on the shape of the lattice, not on the device. runtime_failure if the device has not enough memory.
class solver {
 public:
  /// Throws an input_error for an operator with clover term or on several ranks.
  solver(const wilson<double>& M, gpu::device where);
  /// Takes a hopping matrix; its links include phases. The operator is 1 + 2 i kappa mu gamma_5 - kappa H.
  solver(workers& by, hopping H, double kappa, double mu);

  /// Solves M psi = eta on all sites; psi is overwritten. input_error for another method than cg.
  solver_result solve(spinors<double>& psi, const spinors<double>& eta, const solver_options& options = {});
  /// Even sites and odd ones of a field on the device.
  using half_fields = std::array<half_field<double>, 2>;
  /// Solves the same for fields on the device.
  solver_result solve(half_fields& psi, const half_fields& eta, const solver_options& options = {});

  /// Solves (M^^+ M^) x = phi on odd sites, with M^ + i twist gamma_5 for M^. The residual is |phi - M^^+ M^ x| /
  /// |phi|. input_error for another method than cg.
  solver_result solve_normal(spinors<double>& x, const spinors<double>& phi, double twist,
                             const solver_options& options = {});

  hopping& H() { return H_; }

 private:
  using chiral = std::complex<double>;
  using stop_reason = solver_result::stop_reason;

  chiral A(bool dagger) const { return {1, (dagger ? -2 : 2) * kappa_ * mu_}; }

  /// Launches even_ = A^-1 H in, and returns the kernel of (M^ + i twist gamma_5) in from it (or of their adjoints).
  template <class S, class R = S>
  hop<S, R> apply_odd(const half_field<R>& out, half_field<S>& even, const half_field<S>& in, bool dagger,
                      double twist);
  /// Launches a kernel, and returns |out|^2.
  template <class S>
  double norm2_after(hop<S> kernel);
  double norm2(const half_field<double>& x);

  /// conjugate_gradient.hpp on the device, with directions stored as S, residual and sum as R.
  template <class S, class R, class Residual>
  stop_reason steps(half_field<double>& x, const half_field<double>& r, target_residual criterion, double target,
                    double twist, const solver_options& options, solver_result& result, Residual&& residual);
  template <class Residual>
  void run(half_field<double>& x, const half_field<double>& r, target_residual criterion, double target, double twist,
           const solver_options& options, solver_result& result, Residual&& residual);

  workers& workers_;
  hopping H_;
  double kappa_, mu_;
  gpu::memory parts_, numbers_;  ///< partial sums; results of sums and the state of steps
};

}  // namespace plaq::lqcd::device
