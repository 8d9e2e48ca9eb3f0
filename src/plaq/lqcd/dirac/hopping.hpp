// Hopping matrix over all ranks.
#pragma once
#include <array>
#include <concepts>
#include <optional>
#include <vector>

#include "plaq/lqcd/dirac/hopping_kernel.hpp"
#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd {

/// Options of out = c H in + d phi, where c and d are numbers a + i b gamma_5; H^+ if `dagger`.
template <class T>
struct hopping_options {
  bool dagger = false;
  chiral<T> c{1, 0};
  const spinors<T>* phi = nullptr;
  chiral<T> d{0, 0};
};

/// Hopping matrix H of one gauge field, whose links include the phases of boundary conditions:
///   (H psi)(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu).
/// A rank sends half spinors to its neighbours, computes the interior groups meanwhile, then those at its edges. The
/// sum of each site has one order, so bits do not depend on ranks, workers or lanes. Collective; one call at a time. S
/// is the storage type of links (near_links).
template <class T, class S = T>
class hopping {
 public:
  /// Takes links of SU(3) times a phase, the same on all sites, whose third power is link_determinants[mu]: a link's
  /// third row is computed from the others. input_error if a link is not of this form.
  hopping(context& ctx, const links<T>& gauge, const std::array<std::complex<T>, 4>& link_determinants = {1, 1, 1, 1})
    requires std::same_as<T, S>;
  /// Converts another hopping matrix to this precision, storage and layout.
  hopping(const hopping<double>& other, std::shared_ptr<const site_layout> layout);

  /// Computes the sites of `parity` of out from those of the other parity of in. phi may be out, of the same parity.
  void operator()(spinors<T>& out, const spinors<T>& in, int parity, const hopping_options<T>& options = {});

  /// Computes m_mu(x) = U_mu(x) tr_spin [(1 - gamma_mu) X(x + mu) Y(x)^+ + (1 + gamma_mu) Y(x + mu) X(x)^+] of fields
  /// on all sites: with U -> exp(e_a T_a) U the real part of Y^+ H X changes by Re tr(e_a T_a m).
  void derivative(links<T>& m, const spinors<T>& X, const spinors<T>& Y)
    requires std::same_as<T, S>;

  /// U_mu at a site of this rank, row by row: slow access.
  std::array<std::complex<T>, 9> link(site_layout::location at, int mu) const
    requires std::same_as<T, S>;

  context& ctx() const { return ctx_; }

  /// Arguments for direct calls of the kernels: without `out`, with the faces of this object.
  hopping_args<T, S> kernel_args(const spinors<T>& in, int parity, bool dagger);

 private:
  /// Exchanges half spinors over the edges in every `step`-th direction, and calls `meanwhile` in between.
  template <class F>
  void exchange(const hopping_args<T, S>& args, int step, F&& meanwhile);

  template <class, class>
  friend class hopping;
  void prepare();

  /// Half spinors of the groups at an edge, and the parts of them that are sent and received.
  struct face {
    std::vector<T> halo, send_buffer, receive_buffer;
  };
  context& ctx_;
  near_links<S> links_;
  std::optional<near_third_rows<S>> third_rows_;  ///< of small lattices
  std::array<std::complex<T>, 4> link_determinants_;
  bool prefetch_, stream_;
  std::array<face, neighbours> faces_;
};

extern template class hopping<double>;
extern template class hopping<float>;
extern template class hopping<float, fixed16>;

}  // namespace plaq::lqcd
