// The clover term of Wilson's matrix (Sheikholeslami and Wohlert, Nucl. Phys. B 259, 572 (1985)):
//   A = H + 2 i kappa mu gamma_5,  H = 1 + i kappa c_sw sum over mu < nu of sigma_mu,nu F_mu,nu,
// sigma_mu,nu = i gamma_mu gamma_nu, and F = (Q - Q^+) / 8 with the four leaves Q of flow.hpp. H is Hermitian.
#pragma once
#include <array>
#include <complex>
#include <vector>

#include "plaq/lqcd/clover_kernel.hpp"
#include "plaq/lqcd/matrices.hpp"

namespace plaq::lqcd {

/// H on all sites. Collective, as all below.
chiral_blocks<double> clover_term(engine& by, const links<double>& u, double kappa_csw);

/// A^-1 on even sites, with `twist` = 2 kappa mu: H^-1 without it, else (H - i twist gamma_5) P with P = (H^2 +
/// twist^2)^-1; and the sum over them of log |det A|.
struct inverse_blocks {
  chiral_blocks<double> inverse;  ///< H^-1, or P
  double log_det;
};
inverse_blocks inverted(engine& by, const chiral_blocks<double>& H, double twist);

/// A colour matrix Z on each site for each plane 01, 02, 03, 12, 13, 23: what stands beside F in sums of Re tr F Z.
using plane_matrices = std::vector<matrices>;

/// Z_ij = sum over spins (gamma_mu gamma_nu X)_i conj(Y)_j, so that Y^+ gamma_mu gamma_nu F X = tr F Z.
plane_matrices tensor_of(engine& by, const spinors<double>& X, const spinors<double>& Y);
/// The same for Re tr (A^-1 gamma_mu gamma_nu F) on even sites, which has H^-1 in it or H P; zero on odd ones.
plane_matrices tensor_of(engine& by, const chiral_blocks<double>& H, const chiral_blocks<double>& inverse_even,
                         double twist);

/// m += factor times what makes the sum of Re tr F Z over sites and planes change by Re tr(e_a T_a m) with
/// U -> exp(e_a T_a) U.
void add_tensor_derivative(engine& by, links<double>& m, const links<double>& u, const plane_matrices& Z,
                           double factor);

}  // namespace plaq::lqcd
