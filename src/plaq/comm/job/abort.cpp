#include "plaq/comm/job/abort.hpp"

#include <atomic>
#include <cstdlib>

#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

namespace {
std::atomic<bool> aborting{false};
}

void abort_job(int code) {
  aborting = true;
  if (mpi_is_running()) mpi_abort(code);
  std::_Exit(code);
}

bool is_aborting() { return aborting; }

}  // namespace plaq::comm
