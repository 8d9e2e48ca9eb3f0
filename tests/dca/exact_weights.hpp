// A model and what its vertices weigh, from determinants in extended precision: what the tests of worms compare with.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "plaq/dca/reference.hpp"
#include "plaq/dca/walk/walker.hpp"
#include "small_problem.hpp"

namespace plaq::dca {

struct exact_model {
  expansion parameters;
  std::shared_ptr<const g0_table> g0;

  /// Without the factor (K / (2 beta Nc))^k.
  long double weight(const std::vector<vertex>& v) const { return reference::weight(parameters, *g0, v); }
  /// Of the whole weight.
  double sign(const std::vector<vertex>& v) const {
    return (weight(v) < 0 ? -1 : 1) * parameters.sign_of_factor(int(v.size()));
  }
  /// N_sigma of these vertices.
  std::array<linalg::matrix<double>, 2> n(const std::vector<vertex>& v) const {
    std::array<linalg::matrix<double>, 2> out;
    const int k = int(v.size());
    for (int side = 0; side < 2; ++side) {
      const auto exact = reference::inverse(reference::inverse_n(parameters, *g0, v, side == 0 ? 1 : -1));
      out[side].reshape(k, k);
      for (int i = 0; i < k; ++i)
        for (int j = 0; j < k; ++j) out[side](i, j) = double(exact[i][j]);
    }
    return out;
  }
  /// Where a walk of 2000 proposals ends.
  std::vector<vertex> warm() const {
    walker<double> w(parameters, g0, 32);
    w.reset({});
    w.propose({17, 2, 0, 0, 0, 0}, 0, 2000);
    return w.current().vertices;
  }
};

inline exact_model plaquette(double beta, double U, double K = 1) {
  return {{beta, U, 4, K}, two_level_bath({2, 2}, beta, 0.9, 0.4).table()};
}

}  // namespace plaq::dca
