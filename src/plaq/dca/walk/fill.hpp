// Sample for the measurements, from vertices and N of a walk.
#pragma once
#include <cmath>
#include <vector>

#include "plaq/dca/walk/configuration.hpp"
#include "plaq/dca/walk/sample.hpp"

namespace plaq::dca {

/// Fills a sample: M_sigma = (e^V - 1) N_sigma, vertices ordered by site. Vertex i has row and column slot(i) of N.
/// column(side, slot) points to a column of N for a spin (0 up, 1 down), as const Real*.
template <class Real, class Slot, class Column>
void fill(sample& out, const expansion& parameters, const configuration& c, Slot&& slot, Column&& column) {
  const auto& vertices = c.vertices;
  const int k = int(vertices.size());
  const vertex_strength strength_of(parameters);
  out.sign = c.sign;
  out.mis_weight = 1;
  out.first.assign(parameters.sites + 1, 0);
  for (const vertex& v : vertices) ++out.first[v.site + 1];
  for (int x = 0; x < parameters.sites; ++x) out.first[x + 1] += out.first[x];
  std::vector<int> next(out.first.begin(), out.first.end() - 1), vertex_at(k), rows(k);
  for (int i = 0; i < k; ++i) vertex_at[next[vertices[i].site]++] = i;
  out.tau.resize(k);
  for (int p = 0; p < k; ++p) {
    out.tau[p] = vertices[vertex_at[p]].tau;
    rows[p] = slot(vertex_at[p]);
  }
  std::vector<Real> strength(k);
  for (int side = 0; side < 2; ++side) {
    out.m[side].reshape(k, k);
    out.strength[side].resize(k);
    out.n_diagonal[side].resize(k);
    for (int p = 0; p < k; ++p) {
      out.strength[side][p] = strength_of(side == 0 ? +1 : -1, vertices[vertex_at[p]].spin);
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
