// The particles of a species in a patch, and its fields.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/pic/block.hpp"

namespace plaq::pic {

/// A particle: a cell of the patch and where it is in it, in [0, 1] of the cell, so that single precision is as fine
/// everywhere; momentum per mass; weight; its id where the species is tracked. Arrays that are not used are empty.
template <class T>
struct particles {
  std::array<std::vector<std::int32_t>, 3> cell;
  std::array<std::vector<T>, 3> x, u;
  std::vector<T> w;
  std::vector<std::uint64_t> id;

  std::size_t size() const { return w.size(); }
  bool empty() const { return w.empty(); }
  void serialize(archive& ar) { ar(cell, x, u, w, id); }

  /// Calls use(array, the same array of `other`) for every array that `other` uses.
  template <class Other, class Use>
  void each_array(Other& other, int dimensions, Use use) {
    for (int d = 0; d < dimensions; ++d) use(cell[d], other.cell[d]), use(x[d], other.x[d]);
    for (int c = 0; c < 3; ++c) use(u[c], other.u[c]);
    use(w, other.w);
    if (!other.id.empty()) use(id, other.id);
  }
  void append(const particles& other, int dimensions) {
    each_array(other, dimensions, [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); });
  }
  /// Takes particle i of another over, which keeps it.
  void append(const particles& other, std::size_t i, int dimensions) {
    each_array(other, dimensions, [i](auto& to, const auto& from) { to.push_back(from[i]); });
  }
  /// The last one takes its place.
  void remove(std::size_t i, int dimensions) {
    each_array(*this, dimensions, [i](auto& to, auto&) {
      to[i] = to.back();
      to.pop_back();
    });
  }
};

/// Particles within a step, and the part of it that each has still before it.
template <class T>
struct under_way {
  particles<T> who;
  std::vector<double> part;
  void serialize(archive& ar) { ar(who, part); }
};

/// E and B at the points of Yee's mesh: E_c half a cell on in c, B_c in the two others; J where E is, rho at the
/// nodes, and phi of electrostatic plans. Each in an array as long as the block.
template <class T>
struct fields {
  std::array<std::vector<T>, 3> e, b, j;
  std::vector<T> rho, phi;

  fields() = default;
  explicit fields(const block& m) : rho(m.size()) {
    for (auto* v : {&e, &b, &j})
      for (auto& component : *v) component.resize(m.size());
  }
  void serialize(archive& ar) { ar(e, b, j, rho, phi); }
};

}  // namespace plaq::pic
