// The hopping kernel in double precision.
#include "plaq/lqcd/dirac/hopping_groups.hpp"

namespace plaq::lqcd {

template void hop(const hopping_args<double>&, std::span<const std::int32_t>);
template void compute_third_rows(const hopping_args<double>&, std::int64_t, std::int64_t, double*);

}  // namespace plaq::lqcd
