// Smearing in space: of links by APE's method, of sources and sinks of quarks to Gaussian shapes.
#pragma once
#include "plaq/lqcd/matrices.hpp"
#include "plaq/lqcd/wilson.hpp"

namespace plaq::lqcd {

/// Links in directions 1 ... 3, `times` times: U -> P[(1 - alpha) U + alpha / 4 times the four staples in these
/// directions], with P[V] = V (V^+ V)^(-1/2) without the phase of its determinant (Albanese et al., Phys. Lett. B
/// 192, 163 (1987)). Collective, as all below.
void ape(engine& by, links<double>& u, double alpha, int times);

/// psi -> (psi + kappa sum over j = 1 ... 3 of [U_j(x) psi(x + j) + U_j(x - j)^+ psi(x - j)]) / (1 + 6 kappa),
/// `times` times (Guesken, Nucl. Phys. B Proc. Suppl. 17, 361 (1990)). psi has all sites, and U the phases
/// exp(i pi theta_j / L_j) of a `wilson` besides.
void gaussian_smear(engine& by, spinors<double>& psi, const links<double>& u, double kappa, int times,
                    const angles& theta);

namespace detail {
/// out += z U in for the spins of a block, or z U^+ in; in alone without U.
struct transport_work {
  double* out;
  const double* in;
  const_matrix_view u;
  bool adjoint;
  std::complex<double> z;
};
void transport_blocks(int lanes, std::int64_t first, std::int64_t end, const transport_work& work);
}  // namespace detail

}  // namespace plaq::lqcd
