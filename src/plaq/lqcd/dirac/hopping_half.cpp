// The hopping kernel in single precision with links in 16 bits.
#include "plaq/lqcd/dirac/hopping_groups.hpp"

namespace plaq::lqcd {

template void hop(const hopping_args<float, fixed16>&, std::span<const std::int32_t>);

}  // namespace plaq::lqcd
