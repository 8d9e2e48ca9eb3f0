// Spinors of two flavours, and loops over the flavours of a vector.
#pragma once
#include <complex>

#include "plaq/lqcd/lattice/linear.hpp"

namespace plaq::lqcd {

/// Spinors of both flavours, on the same sites.
template <class T>
struct flavours {
  using number = T;
  spinors<T> up, down;
};

/// Calls f(x ...) for spinors, or for the upper and then for the lower flavour of all x.
template <class F, class... X>
void for_each_flavour(F&& f, X&&... x) {
  if constexpr (requires { (x.up, ...); })
    f(x.up...), f(x.down...);
  else
    f(x...);
}

template <class T>
double norm2(context& ctx, const flavours<T>& x) {
  return norm2(ctx, x.up) + norm2(ctx, x.down);
}
template <class T>
std::complex<double> dot(context& ctx, const flavours<T>& x, const flavours<T>& y) {
  return dot(ctx, x.up, y.up) + dot(ctx, x.down, y.down);
}

}  // namespace plaq::lqcd
