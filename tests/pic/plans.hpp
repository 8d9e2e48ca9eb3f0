// Plans and patches that the suites share.
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/plan.hpp"
#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/processes/loading.hpp"

namespace plaq::pic::test {

/// Periodic box of electrons, cells of side 0.2, half of the Courant limit.
inline plan periodic(int dimensions, int order, int cells = 8, int patches = 2) {
  plan p;
  p.dimensions = dimensions, p.order = order;
  for (int d = 0; d < dimensions; ++d) {
    p.cells[d] = cells + d, p.patches[d] = patches;
    p.lengths[d] = 0.2 * p.cells[d];
  }
  p.dt = 0.5 * p.courant();
  p.species_list = {{"electrons", -1, 1, pusher::boris}};
  p.seed = 7;
  return p;
}

/// Returns the plan with other sides in one dimension.
inline plan between(plan p, int d, field_boundary b, particle_boundary low, particle_boundary high) {
  p.field_boundaries[d] = {b, b};
  p.particle_boundaries[d] = {low, high};
  return p;
}

/// Returns the numbers of the nodes from low to high - 1, in the dimensions of the plan.
inline std::vector<std::int64_t> block(const plan& p, const point& low, const point& high) {
  std::vector<std::int64_t> out;
  for (int k = low[2]; k < high[2]; ++k)
    for (int j = low[1]; j < high[1]; ++j)
      for (int i = low[0]; i < high[0]; ++i)
        if ((p.dimensions > 1 || j == low[1]) && (p.dimensions > 2 || k == low[2]))
          out.push_back(number_of_node(p, {i, p.dimensions > 1 ? j : 0, p.dimensions > 2 ? k : 0}));
  return out;
}

/// Returns a number uniform in [-1, 1), a function of its arguments.
inline double drawn(std::uint64_t a, std::uint64_t b = 0) {
  return 2 * unit_interval(random_words({.seed = 3, .purpose = 99, .l = a}, b)[0]) - 1;
}

/// Fills E and B with random numbers of size `size`.
template <class T>
void fill(fields<T>& f, double size) {
  std::uint64_t n = 0;
  for (auto* field : {&f.e, &f.b})
    for (auto& component : *field)
      for (T& x : component) x = T(size * drawn(1, n++));
}

/// Returns n particles anywhere in the patch, momenta of the order of `momentum`.
template <class T>
particles<T> some_particles(const patch_grid& m, int n, double momentum = 1) {
  particles<T> p;
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < m.dimensions; ++d) {
      const double x = 0.5 * (1 + drawn(2 + std::uint64_t(d), std::uint64_t(i))) * m.cells[d];
      p.cell[d].push_back(int(x)), p.x[d].push_back(T(x - int(x)));
    }
    for (int c = 0; c < 3; ++c) p.u[c].push_back(T(momentum * drawn(5 + std::uint64_t(c), std::uint64_t(i))));
    p.w.push_back(T(1.5 + drawn(8, std::uint64_t(i))));
  }
  return p;
}

}  // namespace plaq::pic::test
