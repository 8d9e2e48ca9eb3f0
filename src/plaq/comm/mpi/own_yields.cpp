#include "plaq/comm/mpi/own_yields.hpp"

#include <cstdlib>

namespace plaq::comm {

void find_own_yields(const shared_library& mpi) {
  if (std::getenv("OMPI_MCA_mpi_yield_when_idle")) return;
  const auto set = reinterpret_cast<bool (*)(bool)>(mpi.symbol("opal_progress_set_yield_when_idle"));
  if (!set || !set(true)) {  // returns what it was
    if (set) set(false);
    return;
  }
  quick_poll::set_yields = set;
}

}  // namespace plaq::comm
