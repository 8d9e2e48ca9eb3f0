// The clover term of Wilson's matrix (Sheikholeslami and Wohlert, Nucl. Phys. B 259, 572 (1985)):
//   A = 1 + i kappa c_sw sum over mu < nu of sigma_mu,nu F_mu,nu + 2 i kappa mu gamma_5,
// sigma_mu,nu = i gamma_mu gamma_nu, and F = (Q - Q^+) / 8 with the four leaves Q of flow.hpp.
#pragma once
#include <array>
#include <complex>
#include <vector>

#include "plaq/lqcd/clover_kernel.hpp"
#include "plaq/lqcd/matrices.hpp"

namespace plaq::lqcd {

/// A on all sites; `twist` is 2 kappa mu. Collective, as all below.
chiral_blocks<double> clover_term(engine& by, const links<double>& u, double kappa_csw, double twist);

/// The inverses of A on even sites, and the sum over them of log |det A|.
struct inverse_blocks {
  chiral_blocks<double> inverse;
  double log_det;
};
inverse_blocks inverted(engine& by, const chiral_blocks<double>& A);

/// A colour matrix Z on each site for each plane 01, 02, 03, 12, 13, 23: what stands beside F in sums of Re tr F Z.
using plane_matrices = std::vector<matrices>;

/// Z_ij = sum over spins (gamma_mu gamma_nu X)_i conj(Y)_j, so that Y^+ gamma_mu gamma_nu F X = tr F Z.
plane_matrices tensor_of(engine& by, const spinors<double>& X, const spinors<double>& Y);
/// The same for tr (A^-1 gamma_mu gamma_nu F) on even sites; zero on odd ones.
plane_matrices tensor_of(engine& by, const chiral_blocks<double>& inverse_even);

/// m += factor times what makes the sum of Re tr F Z over sites and planes change by Re tr(e_a T_a m) with
/// U -> exp(e_a T_a) U.
void add_tensor_derivative(engine& by, links<double>& m, const links<double>& u, const plane_matrices& Z,
                           double factor);

}  // namespace plaq::lqcd
