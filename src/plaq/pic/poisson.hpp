// Poisson's equation on the whole box: -laplace phi = rho, with the second differences of Yee's mesh.
#pragma once
#include <array>
#include <vector>

#include "plaq/pic/block.hpp"

namespace plaq::pic {

/// Nodes of the box where phi is: those of the conducting high sides too.
point nodes_of(const plan& p);

/// Puts the values of a patch's cells where they are in the box.
template <class T>
void put_in_box(const plan& p, const block& m, const std::vector<T>& from, std::vector<double>& to) {
  const T* next = from.data();
  const region r = own(m);
  for (int k = 0; k < r.high[2]; ++k)
    for (int j = 0; j < r.high[1]; ++j)
      for (int i = 0; i < r.high[0]; ++i)
        to[std::size_t(m.first[0] + i + p.cells[0] * (m.first[1] + j + p.cells[1] * (m.first[2] + k)))] = double(*next++);
}

/// Directly: in each dimension by the modes of its sides, which are waves in a periodic box and sines between conductors.
/// A transform is a product with the matrix of all modes, so it takes N operations for each of N nodes in a line.
class poisson {
 public:
  explicit poisson(const plan& p);

  /// phi [k][j][i] at the nodes from rho in the cells of the box. In a box without conductors the mean of rho does not count,
  /// and that of phi is 0.
  std::vector<double> solve(const std::vector<double>& rho) const;

 private:
  struct modes {
    int n = 1;                         ///< and unknowns of a line
    int first = 0;                     ///< the node of the first of them
    std::vector<double> matrix = {1};  ///< orthogonal; [mode][node]
    std::vector<double> transposed = {1};
    std::vector<double> eigenvalue = {0};
  };
  const plan& plan_;
  std::array<modes, 3> along_;
};

}  // namespace plaq::pic
