#include "plaq/pic/poisson/surface.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "plaq/base/error.hpp"
#include "plaq/pic/fields/conductors.hpp"
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

}  // namespace

surface_nodes::surface_nodes(const plan& p) {
  std::set<std::int64_t> on_conductors;
  for (const conductor& c : p.conductors) on_conductors.insert(c.nodes.begin(), c.nodes.end());
  std::map<std::int64_t, std::pair<surface_condition, std::vector<term>>> all;
  for (const auto& [node, conductor] : conductor_surface(p))
    all[node].first.electrode = 2 * p.dimensions + int(conductor), all[node].second = {{node, 1}};
  for (const point& at : interface_nodes(p)) {
    const std::int64_t node = number_of_node(p, at);
    if (on_conductors.contains(node)) continue;
    auto& [condition, terms] = all[node];
    double sum = 0;
    for (int d = 0; d < p.dimensions; ++d)
      for (const int step : {-1, 1}) {
        point edge = at, next = at;
        next[d] += step;
        if (step < 0) edge = next;
        const double factor = edge_permittivity(p, edge, d) / (p.spacing(d) * p.spacing(d));
        sum += factor;
        if (p.periodic(d)) next[d] = (next[d] + p.cells[d]) % p.cells[d];
        if (!p.periodic(d) && (next[d] == 0 || next[d] == p.cells[d]))
          condition.sides.emplace_back(std::size_t(2 * d + (next[d] != 0)), -factor);
        else
          terms.push_back({number_of_node(p, next), -factor});
      }
    terms.push_back({node, sum});
    for (term& t : terms) t.factor /= sum;
    for (auto& [side, factor] : condition.sides) factor /= sum;
    condition.charge_factor = 1 / sum;
  }
  std::set<std::int64_t> used;
  for (const auto& [node, content] : all)
    for (const term& t : content.second) used.insert(t.node);
  probes.assign(used.begin(), used.end());
  for (auto& [node, content] : all) {
    unknowns.push_back(node);
    for (const term& t : content.second)
      content.first.nodes.emplace_back(std::size_t(std::ranges::lower_bound(probes, t.node) - probes.begin()),
                                       t.factor);
    conditions.push_back(std::move(content.first));
  }
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
