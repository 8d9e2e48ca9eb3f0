#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

sides box_sides(const plan& p, const point& patch) {
  sides out{};
  for (int d = 0; d < p.dimensions; ++d)
    if (!p.periodic(d)) out[d] = {patch[d] == 0, patch[d] == p.patches[d] - 1};
  return out;
}

}  // namespace plaq::pic
