// Which patch lies where from a patch.
#pragma once
#include <vector>

#include "plaq/collection/index.hpp"
#include "plaq/pic/block.hpp"

namespace plaq::pic {

inline point point_of(const index3& at) { return {at.x, at.y, at.z}; }
inline index3 index_of(const point& at) { return {at[0], at[1], at[2]}; }

struct neighbour {
  index3 at;
  point shift;
};

/// All that share a face, an edge or a corner with a patch: up to 2, 8, 26. Around a periodic box a patch may be
/// its own neighbour, and another one several times.
inline std::vector<neighbour> neighbours(const plan& p, const index3& of) {
  std::vector<neighbour> out;
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

/// Patches have numbers, x fastest.
inline int number_of(const plan& p, const index3& at) { return at.x + p.patches[0] * (at.y + p.patches[1] * at.z); }
inline index3 patch_of(const plan& p, int number) {
  return {number % p.patches[0], number / p.patches[0] % p.patches[1], number / p.patches[0] / p.patches[1]};
}

}  // namespace plaq::pic
