// What measurements need, from vertices and the matrices of a walk.
#pragma once
#include <cmath>
#include <vector>

#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/sample.hpp"

namespace plaq::dca {

/// M_sigma = (e^V - 1) N_sigma, vertices ordered by site. Vertex i has row and column slot(i) of N, whose column for a
/// spin (0 up, 1 down) and a slot is column(side, slot), of type const Real*.
template <class Real, class Slot, class Column>
void fill(sample& out, const expansion& parameters, const configuration& c, Slot&& slot, Column&& column) {
  const auto& vertices = c.vertices;
  const int k = int(vertices.size());
  const vertex_strength strength_of(parameters);
  out.sign = c.sign;
  out.share = 1;
  out.first.assign(parameters.sites + 1, 0);
  for (const vertex& v : vertices) ++out.first[v.site + 1];
  for (int x = 0; x < parameters.sites; ++x) out.first[x + 1] += out.first[x];
  std::vector<int> place(out.first.begin(), out.first.end() - 1), from(k), rows(k);
  for (int i = 0; i < k; ++i) from[place[vertices[i].site]++] = i;
  out.tau.resize(k);
  for (int p = 0; p < k; ++p) {
    out.tau[p] = vertices[from[p]].tau;
    rows[p] = slot(from[p]);
  }
  std::vector<Real> strength(k);
  for (int side = 0; side < 2; ++side) {
    out.m[side].reshape(k, k);
    out.strength[side].resize(k);
    out.n_diagonal[side].resize(k);
    for (int p = 0; p < k; ++p) {
      out.strength[side][p] = strength_of(side == 0 ? +1 : -1, vertices[from[p]].spin);
      out.n_diagonal[side][p] = double(column(side, rows[p])[rows[p]]);
      strength[p] = Real(out.strength[side][p]);
    }
    for (int q = 0; q < k; ++q) {
      const Real* n = column(side, rows[q]);
      float* m = out.m[side].column(q);
      for (int p = 0; p < k; ++p) m[p] = float(strength[p] * n[rows[p]]);
    }
  }
}

}  // namespace plaq::dca
