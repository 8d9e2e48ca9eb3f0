#include "plaq/comm/mpi/call.hpp"

namespace plaq::comm {

std::string in_words(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "error " + std::to_string(code);
  return {text, std::size_t(length)};
}

std::unique_lock<std::mutex> lock_mpi() {
  static std::mutex one_at_a_time;
  static const bool one_caller = [] {
    int level = MPI_THREAD_SINGLE;
    must(MPI_Query_thread(&level), "MPI_Query_thread", "plaq");
    return level < MPI_THREAD_MULTIPLE;
  }();
  return one_caller ? std::unique_lock(one_at_a_time) : std::unique_lock<std::mutex>();
}

}  // namespace plaq::comm
