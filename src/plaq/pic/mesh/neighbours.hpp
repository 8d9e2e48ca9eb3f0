// Neighbours and numbers of patches.
#pragma once
#include "plaq/collection/box.hpp"
#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

inline point point_of(const index3& at) { return {at.x, at.y, at.z}; }
inline index3 index_of(const point& at) { return {at[0], at[1], at[2]}; }

/// Neighbour of a patch: its index, and where it lies, each coordinate -1, 0 or 1.
struct neighbour {
  index3 at;
  point shift;
};

/// Returns all patches that share a face, an edge or a corner with a patch: up to 2, 8, 26. Around a periodic box a
/// patch may be its own neighbour, and another one several times.
inline elements::few<neighbour, 26> neighbours(const plan& p, const index3& of) {
  elements::few<neighbour, 26> out;
  const point reach{1, p.dimensions > 1, p.dimensions > 2};
  point s;
  for (s[2] = -reach[2]; s[2] <= reach[2]; ++s[2])
    for (s[1] = -reach[1]; s[1] <= reach[1]; ++s[1])
      for (s[0] = -1; s[0] <= 1; ++s[0]) {
        if (s == point{}) continue;
        point to = point_of(of);
        bool inside = true;
        for (int d = 0; d < p.dimensions; ++d) {
          to[d] += s[d];
          if (p.periodic(d)) to[d] = (to[d] + p.patches[d]) % p.patches[d];
          inside = inside && to[d] >= 0 && to[d] < p.patches[d];
        }
        if (inside) out.push_back({index_of(to), s});
      }
  return out;
}

/// Number of a patch, x fastest.
inline int patch_number(const plan& p, const index3& at) { return at.x + p.patches[0] * (at.y + p.patches[1] * at.z); }
/// Index of the patch with a number.
inline index3 patch_of(const plan& p, int number) {
  return {number % p.patches[0], number / p.patches[0] % p.patches[1], number / p.patches[0] / p.patches[1]};
}
/// Number of a node of the box, x fastest.
inline std::int64_t number_of_node(const plan& p, const point& at) {
  return at[0] + std::int64_t(p.nodes(0)) * (at[1] + std::int64_t(p.nodes(1)) * at[2]);
}

}  // namespace plaq::pic
