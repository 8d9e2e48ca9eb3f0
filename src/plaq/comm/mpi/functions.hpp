// Functions of a loaded MPI, with the types of its interface: errors and locking.
#pragma once
#include <array>
#include <cstddef>
#include <mutex>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/abi.hpp"

namespace plaq::comm {

// All that plaq calls; each takes the letters MPI_ in front.
#define PLAQ_FUNCTIONS_OF_MPI(F)                                                                               \
  F(Abort, (handle comm, int code))                                                                            \
  F(Cancel, (handle * request))                                                                                \
  F(Comm_dup, (handle comm, handle * made))                                                                    \
  F(Comm_free, (handle * comm))                                                                                \
  F(Comm_group, (handle comm, handle * group))                                                                 \
  F(Comm_rank, (handle comm, int* rank))                                                                       \
  F(Comm_set_errhandler, (handle comm, handle errors))                                                         \
  F(Comm_size, (handle comm, int* size))                                                                       \
  F(Comm_split, (handle comm, int color, int key, handle* made))                                               \
  F(Comm_split_type, (handle comm, int type, int key, handle info, handle* made))                              \
  F(Comm_test_inter, (handle comm, int* yes))                                                                  \
  F(Error_string, (int code, char* text, int* length))                                                         \
  F(Finalize, ())                                                                                              \
  F(Finalized, (int* yes))                                                                                     \
  F(Get_elements_x, (const status* of, handle type, count* n))                                                 \
  F(Get_library_version, (char* text, int* length))                                                            \
  F(Group_free, (handle * group))                                                                              \
  F(Group_translate_ranks, (handle from, int n, const int* ranks, handle to, int* there))                      \
  F(Improbe, (int peer, int tag, handle comm, int* there, handle* message, status* its))                       \
  F(Imrecv, (void* data, int n, handle type, handle* message, handle* request))                                \
  F(Init_thread, (int* argc, char*** argv, int asked, int* level))                                             \
  F(Initialized, (int* yes))                                                                                   \
  F(Irecv, (void* data, int n, handle type, int peer, int tag, handle comm, handle* request))                  \
  F(Isend, (const void* data, int n, handle type, int peer, int tag, handle comm, handle* request))            \
  F(Query_thread, (int* level))                                                                                \
  F(Request_free, (handle * request))                                                                          \
  F(Send_init, (const void* data, int n, handle type, int peer, int tag, handle comm, handle* request))        \
  F(Start, (handle * request))                                                                                 \
  F(Test, (handle * request, int* done, status* its))                                                          \
  F(Testsome, (int n, handle* all, int* count_done, int* which, status* their))                                \
  F(Type_commit, (handle * type))                                                                              \
  F(Type_contiguous, (int n, handle of, handle* made))                                                         \
  F(Type_create_hvector, (int n, int length, address stride, handle of, handle* made))                         \
  F(Type_create_struct, (int n, const int* lengths, const address* places, const handle* types, handle* made)) \
  F(Type_free, (handle * type))

/// Functions and predefined objects of an MPI.
template <class Abi>
struct mpi_functions {
  using handle = typename Abi::handle;
  using status = typename Abi::status;
  using address = std::ptrdiff_t;
  using count = long long;

#define PLAQ_FUNCTION(name, parameters) int(*name) parameters;
  PLAQ_FUNCTIONS_OF_MPI(PLAQ_FUNCTION)
#undef PLAQ_FUNCTION
  predefined<handle> is;
};

/// Functions and objects of the MPI of this process; `take` fills them.
template <class Abi>
inline constinit mpi_functions<Abi> mpi_of{};

/// Fills `mpi_of<Abi>` from a library. Throws input_error if it lacks a function.
template <class Abi>
void take(const shared_library& from) {
  mpi_functions<Abi> found{};
#define PLAQ_FUNCTION(name, parameters)                                           \
  found.name = reinterpret_cast<decltype(found.name)>(from.symbol("MPI_" #name)); \
  if (!found.name) throw input_error(from.path() + " has no MPI_" #name " and cannot serve as MPI");
  PLAQ_FUNCTIONS_OF_MPI(PLAQ_FUNCTION)
#undef PLAQ_FUNCTION
  found.is = Abi::objects(from);
  mpi_of<Abi> = found;
}

template <class Abi>
std::string in_words(int error) {
  std::array<char, 1024> text{};  // longer than any interface's longest
  int length = 0;
  if (mpi_of<Abi>.Error_string(error, text.data(), &length) != 0) return "error " + std::to_string(error);
  return {text.data(), std::size_t(length)};
}

/// Throws runtime_failure unless `code` is success. `rank` is a text, e.g. "rank 2".
template <class Abi>
void must(int code, const char* call, const std::string& rank) {
  if (code != 0) [[unlikely]]
    throw runtime_failure(rank + ": " + call + " failed: " + in_words<Abi>(code));
}
template <class Abi>
void must(int code, const char* call) {
  if (code != 0) [[unlikely]]  // the words cost more than a call that goes well
    must<Abi>(code, call, "plaq");
}

/// Returns a lock for a call of MPI if one thread at a time may call ("serialized"), else an empty one. No call waits
/// with it.
template <class Abi>
std::unique_lock<std::mutex> lock_mpi() {
  static std::mutex one_at_a_time;
  static const bool one_caller = [] {
    int level = 0;
    must<Abi>(mpi_of<Abi>.Query_thread(&level), "MPI_Query_thread");
    return level < Abi::thread_levels[3];
  }();
  return one_caller ? std::unique_lock(one_at_a_time) : std::unique_lock<std::mutex>();
}

}  // namespace plaq::comm
