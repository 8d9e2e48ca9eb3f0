// In a build without plaq::fft.
#include "plaq/base/error.hpp"
#include "plaq/pic/poisson.hpp"

namespace plaq::pic {

class poisson::implementation {};

poisson::poisson(const plan&, const comm::communicator&, task::detail::pool_base&) {
  throw input_error("Poisson's equation needs transforms of meshes, and plaq was built without Eigen's headers");
}
poisson::~poisson() = default;
std::vector<piece> poisson::solve(const std::vector<piece>&) { return {}; }

}  // namespace plaq::pic
