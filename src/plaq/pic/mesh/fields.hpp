// Electric and magnetic field, current and charge of a patch.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

/// Fields at the points of Yee's mesh: E_c half a cell on in c, B_c in the two other dimensions; J where E is, rho at
/// the nodes, and phi of electrostatic plans. Each array is as long as the patch grid. Fields of a cylinder are the sum
/// of the mode 0 and `modes`, the factors of cos(theta), sin(theta), cos(2 theta), sin(2 theta) and so on.
template <class T>
struct fields {
  std::array<std::vector<T>, 3> e, b, j;
  std::vector<T> rho, phi;
  std::vector<fields> modes;

  fields() = default;
  explicit fields(const patch_grid& m) : rho(m.size()) {
    for (auto* v : {&e, &b, &j})
      for (auto& component : *v) component.resize(m.size());
    patch_grid of_mode = m;
    of_mode.modes = 1;
    if (m.modes > 1) modes.assign(std::size_t(2 * (m.modes - 1)), fields(of_mode));
  }
  void serialize(archive& ar) { ar(e, b, j, rho, phi, modes); }
};

/// Calls use(fields) for the mode 0, then for all of `modes`.
template <class Fields, class Use>
void for_each_part(Fields& f, Use use) {
  use(f);
  for (auto& part : f.modes) use(part);
}
/// Calls use(fields, m, those of the other factor, derivative) likewise; d/dtheta of the fields is `derivative` times
/// those of the other factor: m and -m for the factors of the cosine and the sine, 0 for the mode 0.
template <class T, class Use>
void for_each_mode(fields<T>& f, Use use) {
  use(f, 0, f, 0.0);
  for (std::size_t q = 0; q < f.modes.size(); q += 2) {
    const int m = int(q / 2) + 1;
    use(f.modes[q], m, f.modes[q + 1], double(m));
    use(f.modes[q + 1], m, f.modes[q], -double(m));
  }
}

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
