#include "plaq/pic/fields/moving_charge.hpp"

namespace plaq::pic {

template <class T>
void add_moving_field(const patch_grid& m, const std::vector<double>& phi, const drift_along& motion, fields<T>& f) {
  const int a = motion.dimension, a1 = (a + 1) % 3, a2 = (a + 2) % 3;
  const auto potential = [&](std::ptrdiff_t i) {  // A_a, half a cell on in a
    return 0.5 * motion.beta * (phi[std::size_t(i)] + phi[std::size_t(i + m.stride[a])]);
  };
  const auto difference = [&](std::ptrdiff_t i, int d) {  // of A_a
    return d < m.dimensions ? (potential(i + m.stride[d]) - potential(i)) / m.spacing[d] : 0;
  };
  for_each_row(m, own_cells(m), [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = at; i < at + n; ++i) {
      for (int d = 0; d < m.dimensions; ++d) {
        const double factor = d == a ? 1 - motion.beta * motion.beta : 1;
        f.e[d][std::size_t(i)] += T(factor * (phi[std::size_t(i)] - phi[std::size_t(i + m.stride[d])]) / m.spacing[d]);
      }
      f.b[a1][std::size_t(i)] += T(difference(i, a2));
      f.b[a2][std::size_t(i)] -= T(difference(i, a1));
    }
  });
}

template void add_moving_field(const patch_grid&, const std::vector<double>&, const drift_along&, fields<float>&);
template void add_moving_field(const patch_grid&, const std::vector<double>&, const drift_along&, fields<double>&);

}  // namespace plaq::pic
