// What the files that know MPI share. Nobody else includes it.
#pragma once
#include <mpi.h>

#include <memory>
#include <mutex>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

std::string in_words(int mpi_error);

/// Throws unless `code` is success. `where` is who and with whom, e.g. "rank 2" and " to rank 0".
inline void must(int code, const char* call, const std::string& who, const std::string& with = "") {
  if (code != MPI_SUCCESS) [[unlikely]]
    throw runtime_failure(who + ": " + call + with + " failed: " + in_words(code));
}

/// Whether MPI may be called by one thread at a time only (MPI_THREAD_SERIALIZED).
bool one_caller();
/// Held around every call of MPI where that is so, else nothing. Nobody waits inside.
std::unique_lock<std::mutex> own_turn();

/// A wire over a duplicate of `over`; collective.
std::unique_ptr<wire> mpi_wire(MPI_Comm over, std::size_t longest_message);

}  // namespace plaq::comm
