// Clover term of Wilson's matrix (Sheikholeslami and Wohlert, Nucl. Phys. B 259, 572 (1985)):
//   A = H + 2 i kappa mu gamma_5,  H = 1 + i kappa c_sw sum over mu < nu of sigma_mu,nu F_mu,nu,
// sigma_mu,nu = i gamma_mu gamma_nu, and F = (Q - Q^+) / 8 with the four leaves Q of flow.hpp. H is Hermitian.
#pragma once
#include <array>
#include <complex>
#include <vector>

#include "plaq/lqcd/dirac/clover_kernel.hpp"
#include "plaq/lqcd/gauge/matrices.hpp"

namespace plaq::lqcd {

/// Computes H on all sites. Collective, as all below.
chiral_blocks<double> clover_term(context& ctx, const links<double>& u, double kappa_csw);

/// Inverse A^-1 on even sites with `twist` = 2 kappa mu, and the sum over these sites of log |det A|. A^-1 is H^-1
/// without twist, else (H - i twist gamma_5) P with P = (H^2 + twist^2)^-1.
struct inverse_blocks {
  chiral_blocks<double> inverse;  ///< H^-1, or P
  double log_det;
};
inverse_blocks invert_on_even_sites(context& ctx, const chiral_blocks<double>& H, double twist);

/// Colour matrix Z on each site for each plane 01, 02, 03, 12, 13, 23, the factor of F in sums of Re tr F Z.
using plane_matrices = std::vector<matrices>;

/// Computes Z_ij = sum over spins (gamma_mu gamma_nu X)_i conj(Y)_j, so that Y^+ gamma_mu gamma_nu F X = tr F Z.
plane_matrices tensor_of(context& ctx, const spinors<double>& X, const spinors<double>& Y);
/// Computes Z for Re tr (A^-1 gamma_mu gamma_nu F) on even sites, with H^-1 or H P; zero on odd ones.
plane_matrices tensor_of(context& ctx, const chiral_blocks<double>& H, const chiral_blocks<double>& inverse_even,
                         double twist);

/// Adds factor times the derivative of the sum of Re tr F Z over sites and planes to m: with U -> exp(e_a T_a) U the
/// sum changes by Re tr(e_a T_a derivative).
void add_tensor_derivative(context& ctx, links<double>& m, const links<double>& u, const plane_matrices& Z,
                           double factor);

}  // namespace plaq::lqcd
