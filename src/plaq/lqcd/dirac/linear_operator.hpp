// Concept of a fermion matrix, for solvers.
#pragma once
#include <concepts>
#include <memory>

#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd {

/// Linear operator M on vectors of one flavour or more, and its even-odd preconditioned form M^ on odd sites.
///
/// `apply` computes M or M^+ on all sites, `apply_odd` M^ or M^^+ on odd ones. `complete(psi, eta)` computes the even
/// sites of the solution of M psi = eta from its odd ones. `zero` makes a vector of zeros. All are collective.
template <class M>
concept linear_operator =
    requires(M m, typename M::vector out, const typename M::vector in, const M& constant, bool dagger, sites subset) {
      typename M::vector::number;
      m.apply(out, in, dagger);
      m.apply_odd(out, in, dagger);
      m.complete(out, in);
      { constant.zero(subset) } -> std::same_as<typename M::vector>;
      { constant.layout() } -> std::convertible_to<std::shared_ptr<const site_layout>>;
      { constant.ctx() } -> std::same_as<context&>;
    };

/// Linear operator that is made in single precision too, for the steps of solvers, and takes a twist: M^ + i twist
/// gamma_5.
template <class M>
concept mixed_precision_operator =
    linear_operator<M> && requires(M m, typename M::vector x, bool dagger, double twist) {
      m.apply_odd(x, x, dagger, twist);
      typename M::single;
      typename M::half;
    };

}  // namespace plaq::lqcd
