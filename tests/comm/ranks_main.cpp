// main() of the suites on ranks. With PLAQ_TEST_THREADS=serialized it asks MPI for MPI_THREAD_SERIALIZED before plaq
// does, and ends the job where two threads are in MPI at once.
#include <gtest/gtest.h>
#include <mpi.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "plaq/comm/mpi/library.hpp"

namespace {

bool watched = false;
std::atomic<const char*> inside{nullptr};

class visit {
 public:
  explicit visit(const char* call) {
    if (const char* other = watched ? inside.exchange(call) : nullptr) {
      std::fprintf(stderr, "%s while another thread is in %s\n", call, other);
      std::abort();
    }
    if (watched) std::this_thread::yield();  // calls are short: others shall have time to come in
  }
  ~visit() { inside = nullptr; }
};

}  // namespace

// MPI's own profiling interface: a call goes through here, then to its PMPI twin.
#define WATCHED(call, parameters, arguments) \
  extern "C" int call parameters {           \
    const visit now(#call);                  \
    return P##call arguments;                \
  }
WATCHED(MPI_Isend, (const void* data, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* r),
        (data, n, type, peer, tag, comm, r))
WATCHED(MPI_Irecv, (void* data, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* r),
        (data, n, type, peer, tag, comm, r))
WATCHED(MPI_Improbe, (int peer, int tag, MPI_Comm comm, int* there, MPI_Message* m, MPI_Status* status),
        (peer, tag, comm, there, m, status))
WATCHED(MPI_Imrecv, (void* data, int n, MPI_Datatype type, MPI_Message* m, MPI_Request* r), (data, n, type, m, r))
WATCHED(MPI_Start, (MPI_Request * r), (r))
WATCHED(MPI_Test, (MPI_Request * r, int* done, MPI_Status* status), (r, done, status))
WATCHED(MPI_Testsome, (int n, MPI_Request* all, int* count, int* which, MPI_Status* statuses),
        (n, all, count, which, statuses))
WATCHED(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const char* asked = std::getenv("PLAQ_TEST_THREADS");
  watched = asked && std::string_view(asked) == "serialized";
  if (!watched) return RUN_ALL_TESTS();
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  if (plaq::comm::thread_level() != "serialized") return std::fprintf(stderr, "MPI gave another level\n"), 1;
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
