// Poisson's equation in a build without plaq::fft: an error.
#include "plaq/base/error.hpp"
#include "plaq/pic/poisson/poisson.hpp"

namespace plaq::pic {

class poisson::implementation {};

poisson::poisson(const plan&, const comm::communicator&, task::detail::pool_base&) {
  throw input_error("Poisson's equation needs transforms of meshes, and plaq was built without Eigen's headers");
}
poisson::~poisson() = default;
std::vector<patch_values> poisson::solve(const std::vector<patch_values>&) { return {}; }

}  // namespace plaq::pic
