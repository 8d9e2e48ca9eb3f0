// Calls of MPI: errors and locking. Only the files that know MPI include it.
#pragma once
#include <mpi.h>

#include <mutex>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::comm {

std::string in_words(int mpi_error);

/// Throws runtime_failure unless `code` is success. `rank` and `peer` are texts, e.g. "rank 2" and " to rank 0".
inline void must(int code, const char* call, const std::string& rank, const std::string& peer = "") {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw runtime_failure(rank + ": " + call + peer + " failed: " + in_words(code));
}

/// Returns a lock for a call of MPI if one thread at a time may call (MPI_THREAD_SERIALIZED), else an empty one. No
/// call waits with it.
std::unique_lock<std::mutex> lock_mpi();

}  // namespace plaq::comm
