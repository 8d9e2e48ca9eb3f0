#include "plaq/pic/poisson/surface.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/conductor_nodes.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/mesh/permittivity.hpp"

namespace plaq::pic {

namespace {

/// Returns all nodes beside cells of different permittivity, on no side of the box.
std::vector<point> interface_nodes(const plan& p) {
  std::vector<point> out;
  if (p.permittivity.empty()) return out;
  point low{}, at;
  for (int d = 0; d < p.dimensions; ++d) low[d] = p.periodic(d) ? 0 : 1;
  for (at[2] = low[2]; at[2] < p.cells[2]; ++at[2])
    for (at[1] = low[1]; at[1] < p.cells[1]; ++at[1])
      for (at[0] = low[0]; at[0] < p.cells[0]; ++at[0])
        if (node_permittivity(p, at) == 0) out.push_back(at);
  return out;
}

/// Term of a condition before nodes are numbered.
struct term {
  std::int64_t node;
  double factor;
};

/// Returns the factor of the difference of phi along the edge from a node to the next one in dimension d, in the
/// equation of a node `at` one of its ends.
double edge_factor(const plan& p, const point& at, const point& edge, int d) {
  const double factor = edge_permittivity(p, edge, d) / (p.spacing(d) * p.spacing(d));
  if (!p.cylinder || d == 0) return factor;
  // The face between two rings, over the volume of the ring of the node
  return factor * (edge[1] + 0.5) / (at[1] == 0 ? 0.125 : at[1]);
}

}  // namespace

surface_nodes::surface_nodes(const plan& p, const std::array<double, 3>& scale) {
  const std::int64_t row = p.nodes(0), plane = row * p.nodes(1);
  const auto edges = surface_edges(p);
  std::set<std::int64_t> on_conductors, beside;
  for (const conductor& c : p.conductors) on_conductors.insert(c.nodes.begin(), c.nodes.end());
  for (const surface_edge& e : edges) beside.insert(e.node);
  for (const point& at : interface_nodes(p)) beside.insert(number_of_node(p, at));
  std::vector<std::vector<term>> terms;
  std::set<std::int64_t> used;
  for (const std::int64_t node : beside) {
    if (on_conductors.contains(node)) continue;
    const point at{int(node % row), int(node % plane / row), int(node / plane)};
    unknowns.push_back(node);
    surface_condition& condition = conditions.emplace_back();
    auto& of_node = terms.emplace_back();
    double sum = 0;
    for (int direction = 0; direction < 2 * p.dimensions; ++direction) {
      const int d = direction / 2, step = direction % 2 ? 1 : -1;
      point next = at;
      next[d] += step;
      if (p.cylinder && next[1] < 0) continue;  // beyond the axis
      double factor = scale[std::size_t(d)] * edge_factor(p, at, step < 0 ? next : at, d);
      if (p.periodic(d)) next[d] = (next[d] + p.cells[d]) % p.cells[d];
      const std::pair key(node, direction);
      const auto ends = std::ranges::lower_bound(edges, key, {}, &cut_edge::key);
      if (ends != edges.end() && ends->key() == key) {
        factor /= ends->part;
        condition.electrodes.emplace_back(std::size_t(2 * p.dimensions) + ends->conductor, -factor);
      } else if ((p.wall(d, 0) && next[d] == 0) || (p.wall(d, 1) && next[d] == p.cells[d])) {
        condition.electrodes.emplace_back(std::size_t(2 * d + (step > 0)), -factor);
      } else {
        of_node.push_back({number_of_node(p, next), -factor});
      }
      sum += factor;
    }
    of_node.push_back({node, sum});
    for (term& t : of_node) t.factor /= sum, used.insert(t.node);
    for (auto& [electrode, factor] : condition.electrodes) factor /= sum;
    condition.charge_factor = 1 / sum;
  }
  probes.assign(used.begin(), used.end());
  for (std::size_t n = 0; n < terms.size(); ++n)
    for (const term& t : terms[n])
      conditions[n].nodes.emplace_back(std::size_t(std::ranges::lower_bound(probes, t.node) - probes.begin()),
                                       t.factor);
}

dense_factors::dense_factors(std::vector<double> a, std::size_t n) : a_(std::move(a)), rows_(n) {
  std::iota(rows_.begin(), rows_.end(), std::size_t(0));
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(a_[i * n + k]) > std::abs(a_[pivot * n + k])) pivot = i;
    if (!(std::abs(a_[pivot * n + k]) > 0)) throw runtime_failure("the matrix of charges on surfaces is singular");
    if (pivot != k) {
      std::swap_ranges(a_.begin() + std::ptrdiff_t(k * n), a_.begin() + std::ptrdiff_t((k + 1) * n),
                       a_.begin() + std::ptrdiff_t(pivot * n));
      std::swap(rows_[k], rows_[pivot]);
    }
    const double* of = a_.data() + k * n;
    for (std::size_t i = k + 1; i < n; ++i) {
      double* row = a_.data() + i * n;
      const double factor = row[k] /= of[k];
      for (std::size_t j = k + 1; j < n; ++j) row[j] -= factor * of[j];
    }
  }
}

void dense_factors::solve(std::vector<double>& x) const {
  const std::size_t n = rows_.size();
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) {
    y[i] = x[rows_[i]];
    for (std::size_t k = 0; k < i; ++k) y[i] -= a_[i * n + k] * y[k];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) y[i] -= a_[i * n + k] * y[k];
    y[i] /= a_[i * n + i];
  }
  x = std::move(y);
}

}  // namespace plaq::pic
