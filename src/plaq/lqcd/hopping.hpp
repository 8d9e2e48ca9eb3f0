// The hopping matrix over all ranks.
#pragma once
#include <array>
#include <concepts>
#include <optional>
#include <vector>

#include "plaq/lqcd/engine.hpp"
#include "plaq/lqcd/field.hpp"
#include "plaq/lqcd/hopping_kernel.hpp"

namespace plaq::lqcd {

/// out = c H in + d phi, where c and d are numbers a + i b gamma_5; H^+ where `dagger`.
template <class T>
struct hop_options {
  bool dagger = false;
  chiral<T> c{1, 0};
  const spinors<T>* phi = nullptr;
  chiral<T> d{0, 0};
};

/// H of one gauge field, whose links have the phases of boundary conditions in them already:
///   (H psi)(x) = sum_mu (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu(x - mu)^+ psi(x - mu).
/// A rank sends half spinors to its neighbours, works on the blocks inside meanwhile, then on those at its edges.
/// Every block's sum has one order, so the bits do not depend on ranks, workers or lanes. Collective; one call at
/// a time. S is what links are stored as (near_links).
template <class T, class S = T>
class hopping {
 public:
  /// Links are of SU(3) times a phase, the same on all sites, whose third power is turns[mu]: a link's third row is
  /// not read from memory but follows from the others. input_error where it does not.
  hopping(engine& by, const links<T>& gauge, const std::array<std::complex<T>, 4>& turns = {1, 1, 1, 1})
    requires std::same_as<T, S>;
  /// The same in this precision, storage and layout.
  hopping(const hopping<double>& of, std::shared_ptr<const layout> where);

  /// On the sites of `parity` of out, from those of the other parity of in. phi may be out, of the same parity.
  void operator()(spinors<T>& out, const spinors<T>& in, int parity, const hop_options<T>& how = {});

  /// m_mu(x) = U_mu(x) tr_spin [(1 - gamma_mu) X(x + mu) Y(x)^+ + (1 + gamma_mu) Y(x + mu) X(x)^+] of fields on all
  /// sites: with U -> exp(e_a T_a) U the real part of Y^+ H X changes by Re tr(e_a T_a m).
  void derivative(links<T>& m, const spinors<T>& X, const spinors<T>& Y)
    requires std::same_as<T, S>;

  /// U_mu of a site of this rank, row by row, for who is in no hurry.
  std::array<std::complex<T>, 9> link(layout::place at, int mu) const
    requires std::same_as<T, S>;

  engine& by() const { return by_; }

  /// What the kernels get, for who calls them himself: without out, with the faces of this object.
  hop_work<T, S> work(const spinors<T>& in, int parity, bool dagger);

 private:
  /// Half spinors over the edges in every `step`-th direction, and `meanwhile` what needs none of them.
  template <class F>
  void exchange(const hop_work<T, S>& work, int step, F&& meanwhile);

  template <class, class>
  friend class hopping;
  void make_room();

  struct face {
    std::vector<T> ready, send, came;
  };
  engine& by_;
  near_links<S> links_;
  std::array<std::complex<T>, 4> turns_;
  std::optional<third_rows<T>> third_rows_;
  bool prefetch_, stream_;
  std::array<face, neighbours> faces_;
};

extern template class hopping<double>;
extern template class hopping<float>;
extern template class hopping<float, fixed16>;

}  // namespace plaq::lqcd
