// Gaussian smearing of sources and sinks of quarks in space.
#pragma once
#include "plaq/lqcd/dirac/wilson.hpp"
#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Computes psi -> (psi + kappa sum over j = 1 ... 3 of [U_j(x) psi(x + j) + U_j(x - j)^+ psi(x - j)]) / (1 + 6 kappa),
/// `times` times (Guesken, Nucl. Phys. B Proc. Suppl. 17, 361 (1990)). psi has all sites, and U the phases
/// exp(i pi theta_j / L_j) of a `wilson` besides. Collective.
void gaussian_smear(context& ctx, spinors<double>& psi, const links<double>& u, double kappa, int times,
                    const angles& theta);

/// Returns U_mu(x) psi(x + mu) for step = 1, U_mu(x - mu)^+ psi(x - mu) for step = -1, with the phases of `theta` as in
/// gaussian_smear. psi has all sites. Collective.
spinors<double> transport(context& ctx, const spinors<double>& psi, const links<double>& u, int mu, int step,
                          const angles& theta);

namespace detail {
/// Arguments of a parallel transport: out += z U in for the spins of a group, or z U^+ in; z in without U.
struct transport_args {
  double* out;
  const double* in;
  const_matrix_view u;
  bool adjoint;
  std::complex<double> z;
};
void transport_groups(int lanes, std::int64_t first, std::int64_t end, const transport_args& args);
}  // namespace detail

}  // namespace plaq::lqcd
