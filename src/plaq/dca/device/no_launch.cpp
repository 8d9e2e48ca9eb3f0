// Launch of a plaq that was built without GPUs.
#include "plaq/base/error.hpp"
#include "plaq/dca/device/launch.hpp"

namespace plaq::dca::device {

void advance_on_gpu(int, const walk_rules&, const measurement_rules&, chain*, int, std::size_t) {
  throw runtime_failure("plaq was built without GPUs");
}

}  // namespace plaq::dca::device
