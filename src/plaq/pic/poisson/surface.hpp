// Charges on surfaces within the box that Poisson's solver has to find: of conductors, and of polarised dielectrics.
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Condition of a node of a surface: sum of factor x phi over some nodes and sides = the potential of an electrode, or
/// `charge_factor` x rho at the node.
struct surface_condition {
  std::vector<std::pair<std::size_t, double>> nodes;  ///< places in surface_nodes::probes, and factors
  std::vector<std::pair<std::size_t, double>> sides;  ///< numbers of electrodes, and factors
  int electrode = -1;
  double charge_factor = 0;
};

/// Nodes with unknown charges: of conductors beside other nodes, where phi is known, and nodes between cells of
/// different permittivity, where div(epsilon grad phi) is known.
struct surface_nodes {
  std::vector<std::int64_t> unknowns;         ///< numbers of nodes, in rising order
  std::vector<surface_condition> conditions;  ///< one for each
  std::vector<std::int64_t> probes;           ///< nodes of all conditions, in rising order

  surface_nodes() = default;
  explicit surface_nodes(const plan& p);
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
