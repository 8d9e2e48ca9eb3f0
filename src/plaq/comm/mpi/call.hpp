// One call of MPI: what it may fail with, and who may make it. Only the files that know MPI include it.
#pragma once
#include <mpi.h>

#include <mutex>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::comm {

std::string in_words(int mpi_error);

/// Throws unless `code` is success. `where` is who and with whom, e.g. "rank 2" and " to rank 0".
inline void must(int code, const char* call, const std::string& who, const std::string& with = "") {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw runtime_failure(who + ": " + call + with + " failed: " + in_words(code));
}

/// Held around every call of MPI where one thread at a time may call (MPI_THREAD_SERIALIZED), else nothing. Nobody
/// waits inside.
std::unique_lock<std::mutex> own_turn();

}  // namespace plaq::comm
