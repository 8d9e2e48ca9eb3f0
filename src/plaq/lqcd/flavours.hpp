// Spinors of one flavour or of two, as solvers see them.
#pragma once
#include <complex>

#include "plaq/lqcd/linear.hpp"

namespace plaq::lqcd {

/// Spinors of both flavours, on the same sites.
template <class T>
struct flavours {
  using number = T;
  spinors<T> up, down;
};

/// f(x ...) for spinors, or for the upper and then the lower flavour of all x.
template <class F, class... X>
void each_flavour(F&& f, X&&... x) {
  if constexpr (requires { (x.up, ...); })
    f(x.up...), f(x.down...);
  else
    f(x...);
}

template <class T>
double norm2(engine& by, const flavours<T>& x) {
  return norm2(by, x.up) + norm2(by, x.down);
}
template <class T>
std::complex<double> dot(engine& by, const flavours<T>& x, const flavours<T>& y) {
  return dot(by, x.up, y.up) + dot(by, x.down, y.down);
}

}  // namespace plaq::lqcd
