// The hopping matrix over all ranks.
#pragma once
#include <array>
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
/// a time.
template <class T>
class hopping {
 public:
  hopping(engine& by, links<T> gauge);

  /// On the sites of `parity` of out, from those of the other parity of in. phi may be out, of the same parity.
  void operator()(spinors<T>& out, const spinors<T>& in, int parity, const hop_options<T>& how = {});

  const links<T>& gauge() const { return gauge_; }
  engine& by() const { return by_; }

 private:
  struct face {
    std::vector<T> ready, send, came;
  };
  engine& by_;
  links<T> gauge_;
  std::array<face, neighbours> faces_;
};

extern template class hopping<double>;
extern template class hopping<float>;

}  // namespace plaq::lqcd
