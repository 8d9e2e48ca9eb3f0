// Open MPI's own yields: with more ranks than cores it gives the core away in each poll that finds nothing, and beside
// other processes gets it back milliseconds later. Threads of plaq pace their polls themselves.
#pragma once
#include "plaq/comm/mpi/shared_library.hpp"

namespace plaq::comm {

/// Finds out whether this MPI, which runs, yields. Where the user decides, by OMPI_MCA_mpi_yield_when_idle, it always
/// does as he says; other MPIs do not yield.
void find_own_yields(const shared_library& mpi);

/// Poll in which MPI does not yield. In calls that wait inside MPI it does.
class quick_poll {
 public:
  quick_poll() noexcept {
    if (set_yields) set_yields(false);
  }
  quick_poll(const quick_poll&) = delete;
  ~quick_poll() {
    if (set_yields) set_yields(true);
  }

 private:
  friend void find_own_yields(const shared_library& mpi);
  static inline bool (*set_yields)(bool) = nullptr;
};

}  // namespace plaq::comm
