// Surfaces of conductors and dielectrics within the box, as Poisson's solver meets them.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Condition of a node beside a surface: sum of factor x phi over some nodes and electrodes = charge_factor x rho at
/// the node.
struct surface_condition {
  std::vector<std::pair<std::size_t, double>> nodes;       ///< places in surface_nodes::probes, and factors
  std::vector<std::pair<std::size_t, double>> electrodes;  ///< their numbers, and factors
  double charge_factor = 0;
};

/// Nodes where the equation of Poisson's solver is another one than in a vacuum: beside a conductor, to which an edge
/// of the mesh may be shorter than a cell, and between cells of different permittivity. The charge that the solver is
/// given there in place of rho is unknown.
struct surface_nodes {
  std::vector<std::int64_t> unknowns;         ///< numbers of nodes, in rising order
  std::vector<surface_condition> conditions;  ///< one for each
  std::vector<std::int64_t> probes;           ///< nodes of all conditions, in rising order

  surface_nodes() = default;
  /// `scale`: of the second difference in each dimension.
  explicit surface_nodes(const plan& p, const std::array<double, 3>& scale = {1, 1, 1});
};

/// Dense matrix [n, n], row by row, factored by Gauss's elimination with the largest pivot of each column.
class dense_factors {
 public:
  dense_factors() = default;
  /// Throws runtime_failure where the matrix is singular.
  dense_factors(std::vector<double> a, std::size_t n);
  /// Replaces x by the solution of A y = x.
  void solve(std::vector<double>& x) const;

 private:
  std::vector<double> a_;
  std::vector<std::size_t> rows_;  ///< of A, in the order of elimination
};

}  // namespace plaq::pic
