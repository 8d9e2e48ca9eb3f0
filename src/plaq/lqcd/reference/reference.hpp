// The same as the kernels, slow and readable, on the whole lattice: the oracle of tests.
#pragma once
#include <complex>
#include <vector>

#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd::reference {

using number = std::complex<double>;
using matrix4 = std::array<std::array<number, 4>, 4>;

/// gamma_0 ... gamma_3 = t, x, y, z, written out; see gamma.hpp.
inline const matrix4& gamma(int mu) {
  using namespace std::complex_literals;
  static const std::array<matrix4, 4> all = {{
      {{{0, 0, -1, 0}, {0, 0, 0, -1}, {-1, 0, 0, 0}, {0, -1, 0, 0}}},
      {{{0, 0, 0, -1i}, {0, 0, -1i, 0}, {0, 1i, 0, 0}, {1i, 0, 0, 0}}},
      {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}},
      {{{0, 0, -1i, 0}, {0, 0, 0, 1i}, {1i, 0, 0, 0}, {0, -1i, 0, 0}}},
  }};
  return all[mu];
}

/// A field of a lattice of one rank, site after site: [site][component].
template <class Field>
std::vector<number> whole(const Field& f) {
  const auto& box = f.layout().lattice().extents;
  std::vector<number> out(product(box) * Field::reals / 2);
  for_each_site(f.layout(), [&](const coordinates& x, site_layout::location p) {
    for (int i = 0; f.has(parity(x)) && i < Field::reals / 2; ++i)
      out[index_in(x, box) * (Field::reals / 2) + i] = number(f.get(p, i));
  });
  return out;
}

/// H psi or H^+ psi for all sites.
inline std::vector<number> hopping(const coordinates& box, const std::vector<number>& u, const std::vector<number>& psi,
                                   bool dagger = false) {
  std::vector<number> out(psi.size());
  for (std::int64_t at = 0; at < product(box); ++at)
    for (int mu = 0; mu < 4; ++mu)
      for (const int step : {1, -1}) {
        const auto x = coordinates_in(at, box);
        const auto there = index_in(neighbour_of(x, mu, step, box), box);
        const double sign = (step > 0) != dagger ? -1 : 1;
        for (int s = 0; s < 4; ++s)
          for (int r = 0; r < 4; ++r) {
            const number spin = (s == r ? 1.0 : 0.0) + sign * gamma(mu)[s][r];
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b) {
                const number link =
                    step > 0 ? u[(4 * at + mu) * 9 + 3 * a + b] : std::conj(u[(4 * there + mu) * 9 + 3 * b + a]);
                out[at * 12 + 3 * s + a] += spin * link * psi[there * 12 + 3 * r + b];
              }
          }
      }
  return out;
}

}  // namespace plaq::lqcd::reference
