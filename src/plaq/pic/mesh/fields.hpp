// Electric and magnetic field, current and charge of a patch.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Fields at the points of Yee's mesh: E_c half a cell on in c, B_c in the two other dimensions; J where E is, rho at
/// the nodes, and phi of electrostatic plans. Each array is as long as the patch grid.
template <class T>
struct fields {
  std::array<std::vector<T>, 3> e, b, j;
  std::vector<T> rho, phi;

  fields() = default;
  explicit fields(const patch_grid& m) : rho(m.size()) {
    for (auto* v : {&e, &b, &j})
      for (auto& component : *v) component.resize(m.size());
  }
  void serialize(archive& ar) { ar(e, b, j, rho, phi); }
};

/// Returns whether a component has a value other than 0.
template <class T>
bool has_values(const std::vector<T>& component) {
  return std::ranges::any_of(component, [](T x) { return x != 0; });
}
/// Returns whether B may be other than 0: not in an electrostatic plan without B.
template <class T>
bool is_magnetic(const plan& p, const fields<T>& f) {
  return !p.electrostatic || std::ranges::any_of(f.b, has_values<T>);
}
/// Returns whether momenta across the dimensions of the mesh may change: not in an electrostatic plan without B and
/// without E there.
template <class T>
bool is_transverse(const plan& p, const fields<T>& f) {
  return is_magnetic(p, f) || std::any_of(f.e.begin() + p.dimensions, f.e.end(), has_values<T>);
}

}  // namespace plaq::pic
