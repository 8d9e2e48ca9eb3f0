// MPI in this process: when it begins and ends, and what it is.
#include <algorithm>
#include <array>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "plaq/comm/mpi/mpi_wire.hpp"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace plaq::comm {

namespace {

const char* level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE: return "single";
    case MPI_THREAD_FUNNELED: return "funneled";
    case MPI_THREAD_SERIALIZED: return "serialized";
    case MPI_THREAD_MULTIPLE: return "multiple";
  }
  return "unknown";
}

/// MPI in this process: initialised at most once, finalised at exit if plaq initialised it.
class session {
 public:
  static session& instance() {
    static session s;
    return s;
  }

  bool owns() const { return owns_; }

  session(const session&) = delete;
  session& operator=(const session&) = delete;

  ~session() {
    int finalized = 0;
    // Failures are ignored here.
    if (owns_ && MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) MPI_Finalize();
  }

 private:
  session() {
    int running = 0;
    must(MPI_Initialized(&running), "MPI_Initialized", "plaq");
    if (!running) {
      int level = MPI_THREAD_SINGLE;
      check_launcher(library_version(), find_launch());
      must(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread", "plaq");
      owns_ = true;
    }
    need_thread_level();
    // Errors come back as codes; the default is to end the job without saying which call failed.
    must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", "plaq");
    int size = 0;
    must(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size", "plaq");
    check_world(size, library_version(), find_launch(), expected_ranks());
  }

  bool owns_ = false;
};

}  // namespace

void need_thread_level() {
  int level = MPI_THREAD_SINGLE;
  must(MPI_Query_thread(&level), "MPI_Query_thread", "plaq");
  if (level < MPI_THREAD_SERIALIZED)
    throw runtime_failure(std::string("MPI offers the thread level '") + level_name(level) +
                          "'; plaq calls it from several threads, one at a time, and needs 'serialized'");
}

std::unique_ptr<wire> mpi_world(std::size_t longest_message) {
  session::instance();
  return mpi_wire(MPI_COMM_WORLD, longest_message);
}

void mpi_abort(int code) { must(MPI_Abort(MPI_COMM_WORLD, code), "MPI_Abort", "plaq"); }

bool mpi_is_running() {
  int started = 0, finished = 0;
  must(MPI_Initialized(&started), "MPI_Initialized", "plaq");
  must(MPI_Finalized(&finished), "MPI_Finalized", "plaq");
  return started && !finished;
}

bool mpi_is_ours() { return mpi_is_running() && session::instance().owns(); }

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  must(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version", "plaq");
  std::string version(text.data());
  // Implementations add how and when they were built.
  version.resize(std::min(version.find_first_of(",\n"), version.size()));
  std::replace(version.begin(), version.end(), '\t', ' ');
  const auto blanks = [](char x, char y) { return x == ' ' && y == ' '; };
  version.erase(std::unique(version.begin(), version.end(), blanks), version.end());
  return version;
}

std::string thread_level() {
  if (!mpi_is_running()) return "";
  int level = 0;
  must(MPI_Query_thread(&level), "MPI_Query_thread", "plaq");
  return level_name(level);
}

bool takes_device_memory() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)  // Open MPI, and others of its kind
  return MPIX_Query_cuda_support() == 1;
#elif defined(MPIX_GPU_SUPPORT_CUDA)  // MPICH
  int takes = 0;
  must(MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes), "MPIX_GPU_query_support", "plaq");
  return takes != 0;
#else
  return false;
#endif
}

std::string mpiexec() { return PLAQ_MPIEXEC; }

}  // namespace plaq::comm
