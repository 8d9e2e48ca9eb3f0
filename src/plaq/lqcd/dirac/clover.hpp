// Clover term of Wilson's matrix (Sheikholeslami and Wohlert, Nucl. Phys. B 259, 572 (1985)):
//   A = H + 2 i kappa mu gamma_5,  H = 1 + C,  C = i kappa c_sw sum over mu < nu of sigma_mu,nu F_mu,nu,
// sigma_mu,nu = i gamma_mu gamma_nu, and F = (Q - Q^+) / 8 with the four leaves Q of flow.hpp. H is Hermitian. Instead
// of 1 + C it may be exp(C) (Francis, Fritzsch, Luescher and Rago, arXiv:1911.04533), which has an inverse in any
// field.
#pragma once
#include <array>
#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "plaq/lqcd/dirac/clover_kernel.hpp"
#include "plaq/lqcd/gauge/matrices.hpp"
#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/copy.hpp"

namespace plaq::lqcd {

/// Form of H. With `open` boundaries in time quarks live on the slices 0 < t < T - 1 - spare: H is one on the other
/// ones, and 2 kappa (c_F - 1) larger on the first and the last (Luescher and Schaefer, arXiv:1206.2809, section 2).
struct clover_shape {
  double kappa, csw;
  bool exponential = false;
  bool open = false;
  double cF = 1;
  int spare = 0;

  bool is_one() const { return csw == 0 && (!open || cF == 1); }
};

/// Computes 1 + C on all sites. Collective, as all below.
chiral_blocks<double> clover_term(context& ctx, const links<double>& u, double kappa_csw);
/// Computes H on all sites. input_error for c_F other than 1 with the exponential.
chiral_blocks<double> clover_term(context& ctx, const links<double>& u, const clover_shape& shape);

/// Inverse A^-1 on even sites with `twist` = 2 kappa mu, and the sum over these sites of log |det A|. A^-1 is H^-1
/// without twist, else (H - i twist gamma_5) P with P = (H^2 + twist^2)^-1.
struct inverse_blocks {
  chiral_blocks<double> inverse;  ///< H^-1, or P
  double log_det;
};
inverse_blocks invert_on_even_sites(context& ctx, const chiral_blocks<double>& H, double twist);
/// P = (H^2 + square)^-1 on even sites, and the sum of log |det (H^2 + square)|.
inverse_blocks invert_squares_on_even_sites(context& ctx, const chiral_blocks<double>& H, double square);

/// Colour matrix Z on each site for each plane 01, 02, 03, 12, 13, 23, the factor of F in sums of Re tr F Z.
using plane_matrices = std::vector<matrices>;

/// Computes Z_ij = sum over spins (gamma_mu gamma_nu X)_i conj(Y)_j, so that Y^+ gamma_mu gamma_nu F X = tr F Z.
/// With another shape than 1 + C it is that of the derivative of Y^+ H X. `u` has the links of H.
plane_matrices tensor_of(context& ctx, const links<double>& u, const clover_shape& shape, const spinors<double>& X,
                         const spinors<double>& Y);
/// Computes Z for Re tr (A^-1 gamma_mu gamma_nu F) on even sites, with H^-1 or H P; zero on odd ones. Shapes as above.
plane_matrices tensor_of(context& ctx, const links<double>& u, const clover_shape& shape,
                         const chiral_blocks<double>& H, const chiral_blocks<double>& inverse_even, bool squared);

/// Adds factor times the derivative of the sum of Re tr F Z over sites and planes to m: with U -> exp(e_a T_a) U the
/// sum changes by Re tr(e_a T_a derivative).
void add_tensor_derivative(context& ctx, links<double>& m, const links<double>& u, const plane_matrices& Z,
                           double factor);

/// Computes out = (or out +=, if `add`) the product of the factors with in on a parity, as multiply_chiral.
template <class T>
void multiply_blocks(context& ctx, spinors<T>& out, std::span<const chiral_factor<T>> factors, const spinors<T>& in,
                     int parity, bool add = false) {
  ctx.workers.parallel_for("clover", std::size_t(out.layout().half()), [&](std::size_t first, std::size_t end) {
    multiply_chiral(out.lanes(), first, end, out.of(parity), factors, in.of(parity), add);
  });
}

/// Converts blocks to another precision and layout.
template <class T>
chiral_blocks<T> convert_blocks(const chiral_blocks<double>& from, const std::shared_ptr<const site_layout>& layout) {
  chiral_blocks<T> to(layout, from.subset());
  copy(from, to);
  return to;
}

}  // namespace plaq::lqcd
