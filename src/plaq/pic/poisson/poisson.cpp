#include "plaq/pic/poisson/poisson.hpp"

#include "plaq/pic/poisson/cylinder.hpp"
#include "plaq/pic/poisson/fourier.hpp"
#include "plaq/pic/poisson/line.hpp"

namespace plaq::pic {

std::unique_ptr<poisson> make_poisson(const plan& p, const comm::communicator& over, task::detail::pool_base& pool,
                                      const std::array<double, 3>& scale) {
  if (p.cylinder) return make_cylinder_solver(p, over, scale[0]);
  return p.dimensions == 1 ? make_line_solver(p, over, scale[0]) : make_fourier_solver(p, over, pool, scale);
}

}  // namespace plaq::pic
