// The hopping kernel in single precision.
#include "plaq/lqcd/dirac/hopping_groups.hpp"

namespace plaq::lqcd {

template void hop(const hopping_args<float>&, std::span<const std::int32_t>);

}  // namespace plaq::lqcd
