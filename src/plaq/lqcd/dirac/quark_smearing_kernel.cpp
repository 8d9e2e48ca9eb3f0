#include "plaq/lqcd/dirac/quark_smearing.hpp"
#include "plaq/lqcd/lattice/su3.hpp"
#include "plaq/lqcd/lattice/widths.hpp"

namespace plaq::lqcd::detail {

namespace {

template <class V, bool Adjoint>
void transport_of(std::int64_t first, std::int64_t end, const transport_args& w) {
  constexpr int n = 2 * linalg::lanes<V>;
  const cx<V> z{linalg::same<V>(w.z.real()), linalg::same<V>(w.z.imag())};
  for (std::int64_t b = first; b < end; ++b) {
    const double* in = w.in + b * 12 * n;
    double* out = w.out + b * 12 * n;
    const double* u = w.u.first ? w.u.group(b) : nullptr;
    for (int s = 0; s < 4; ++s)
      for (int i = 0; i < 3; ++i) {
        cx<V> sum = {};
        if (u)
          for (int k = 0; k < 3; ++k)
            sum = fma<Adjoint>(load_cx<V>(u + (Adjoint ? 3 * k + i : 3 * i + k) * n), load_cx<V>(in + (3 * s + k) * n),
                               sum);
        else
          sum = load_cx<V>(in + (3 * s + i) * n);
        double* to = out + (3 * s + i) * n;
        store_cx<V>(to, fma(z, sum, load_cx<V>(to)));
      }
  }
}

}  // namespace

void transport_groups(int lanes, std::int64_t first, std::int64_t end, const transport_args& args) {
  with_lanes<double>(lanes, [&]<int N>() {
    using V = linalg::simd<double, N>;
    args.adjoint ? transport_of<V, true>(first, end, args) : transport_of<V, false>(first, end, args);
  });
}

}  // namespace plaq::lqcd::detail
