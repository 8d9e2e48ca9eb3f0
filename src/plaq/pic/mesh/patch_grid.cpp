#include "plaq/pic/mesh/patch_grid.hpp"

namespace plaq::pic {

sides box_sides(const plan& p, const point& patch) {
  sides out{};
  for (int d = 0; d < p.dimensions; ++d)
    out[d] = {p.wall(d, 0) && patch[d] == 0, p.wall(d, 1) && patch[d] == p.patches[d] - 1};
  return out;
}

}  // namespace plaq::pic
