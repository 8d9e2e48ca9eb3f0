// In a build without plaq::fft.
#include "plaq/base/error.hpp"
#include "plaq/pic/poisson.hpp"

namespace plaq::pic {

class poisson::implementation {};

poisson::poisson(const plan&, const comm::communicator&, task::detail::pool_base&) {
  throw input_error(
      "electrostatic fields need transforms of meshes: this plaq was built where CMake did not find Eigen's "
      "headers");
}
poisson::~poisson() = default;
std::vector<piece> poisson::solve(const std::vector<piece>&) { return {}; }

}  // namespace plaq::pic
