// MPI as a transport.
#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <thread>

#include "plaq/base/error.hpp"
#include "plaq/comm/communicator.hpp"
#include "plaq/comm/launcher.hpp"
#include "plaq/comm/mpi.hpp"
#include "plaq/comm/traffic.hpp"
#include "plaq/comm/transport.hpp"

namespace plaq::comm {

std::string in_words(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "error " + std::to_string(code);
  return {text, std::size_t(length)};
}

namespace {

const char* level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "single";
    case MPI_THREAD_FUNNELED:
      return "funneled";
    case MPI_THREAD_SERIALIZED:
      return "serialized";
    case MPI_THREAD_MULTIPLE:
      return "multiple";
  }
  return "unknown";
}

/// MPI in this process: initialised at most once, finalised at exit by whoever initialised it.
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
    // Nobody is left to tell if one of these fails.
    if (owns_ && MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) MPI_Finalize();
  }

 private:
  session() {
    int running = 0, level = MPI_THREAD_SINGLE;
    must(MPI_Initialized(&running), "MPI_Initialized", "plaq");
    if (running) {
      must(MPI_Query_thread(&level), "MPI_Query_thread", "plaq");
    } else {
      check_launcher(library_version(), find_launch());
      must(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level), "MPI_Init_thread", "plaq");
      owns_ = true;
    }
    if (level < MPI_THREAD_SERIALIZED)
      throw runtime_failure(std::string("MPI offers the thread level '") + level_name(level) +
                            "'; plaq calls it from several threads, one at a time, and needs 'serialized'");
    // Errors come back as codes; the default is to end the job without saying which call failed.
    must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", "plaq");
    int size = 0;
    must(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size", "plaq");
    check_world(size, library_version(), find_launch(), expected_ranks());
  }

  bool owns_ = false;
};

}  // namespace

bool one_caller() {
  static const bool one = [] {
    int level = MPI_THREAD_SINGLE;
    must(MPI_Query_thread(&level), "MPI_Query_thread", "plaq");
    return level < MPI_THREAD_MULTIPLE;
  }();
  return one;
}

std::unique_lock<std::mutex> own_turn() {
  static std::mutex one_at_a_time;
  return one_caller() ? std::unique_lock(one_at_a_time) : std::unique_lock<std::mutex>();
}

MPI_Datatype mpi_type(scalar type) {
  switch (type) {
    case scalar::int32:
      return MPI_INT32_T;
    case scalar::int64:
      return MPI_INT64_T;
    case scalar::uint64:
      return MPI_UINT64_T;
    case scalar::float32:
      return MPI_FLOAT;
    case scalar::float64:
      return MPI_DOUBLE;
  }
  throw runtime_failure("unknown scalar type");
}

std::size_t bytes(scalar type) { return type == scalar::int32 || type == scalar::float32 ? 4 : 8; }

MPI_Op mpi_operation(operation op) {
  switch (op) {
    case operation::sum:
      return MPI_SUM;
    case operation::min:
      return MPI_MIN;
    case operation::max:
      return MPI_MAX;
  }
  throw runtime_failure("unknown operation");
}

namespace {

std::string name_of(int rank) { return "rank " + std::to_string(rank); }

/// MPI counts in int, so a long buffer is cut; an empty one still is one message, so that both sides agree.
template <class Byte, class Action>
void in_pieces(std::span<Byte> data, std::size_t longest, Action&& action) {
  do {
    const auto piece = data.first(std::min(longest, data.size()));
    action(piece);
    data = data.subspan(piece.size());
  } while (!data.empty());
}

void need_size(const MPI_Status& status, std::size_t expected, int rank, const char* call, int peer) {
  int received = 0;
  must(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count", name_of(rank), " from " + name_of(peer));
  if (std::size_t(received) != expected)
    throw runtime_failure(name_of(rank) + ": " + call + " from " + name_of(peer) + " expected " +
                          std::to_string(expected) + " bytes and got " + std::to_string(received));
}

class mpi final : public transport {
 public:
  /// Takes the ownership of `comm`, which is not MPI's own world.
  mpi(MPI_Comm comm, std::size_t longest_message) : comm_(comm), longest_(longest_message) {
    must(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank", "plaq");
    must(MPI_Comm_size(comm_, &size_), "MPI_Comm_size", who());
    must(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", who());
  }

  ~mpi() override {
    const auto turn = own_turn();
    int finalized = 0;
    // Python may let go of a communicator after MPI has ended.
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) MPI_Comm_free(&comm_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // MPI has no way to make a group without waiting, so here the other threads do wait.
  std::unique_ptr<transport> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    const auto turn = own_turn();
    must(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split", who());
    return std::make_unique<mpi>(part, longest_);
  }

  std::unique_ptr<transport> split_by_node() override {
    MPI_Comm part = MPI_COMM_NULL;
    const auto turn = own_turn();
    must(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part), "MPI_Comm_split_type",
         who());
    return std::make_unique<mpi>(part, longest_);
  }

  void barrier() override {
    carry_out(
        "MPI_Barrier", "", [&] { return MPI_Barrier(comm_); },
        [&](MPI_Request* request) { return MPI_Ibarrier(comm_, request); }, MPI_STATUS_IGNORE);
  }

  void broadcast(std::span<std::byte> data, int root) override {
    in_pieces(data, longest_, [&](std::span<std::byte> piece) {
      const int n = int(piece.size());
      carry_out(
          "MPI_Bcast", from(root), [&] { return MPI_Bcast(piece.data(), n, MPI_BYTE, root, comm_); },
          [&](MPI_Request* request) { return MPI_Ibcast(piece.data(), n, MPI_BYTE, root, comm_, request); },
          MPI_STATUS_IGNORE);
      traffic::together(piece.size());
    });
  }

  void all_reduce(std::span<std::byte> data, scalar type, operation op) override {
    const std::size_t width = bytes(type);
    const auto t = mpi_type(type);
    const auto o = mpi_operation(op);
    in_pieces(data, std::max(longest_ / width, std::size_t(1)) * width, [&](std::span<std::byte> piece) {
      const int n = int(piece.size() / width);
      carry_out(
          "MPI_Allreduce", "", [&] { return MPI_Allreduce(MPI_IN_PLACE, piece.data(), n, t, o, comm_); },
          [&](MPI_Request* request) {
            return MPI_Iallreduce(MPI_IN_PLACE, piece.data(), n, t, o, comm_, request);
          },
          MPI_STATUS_IGNORE);
      traffic::together(piece.size());
    });
  }

  void send(std::span<const std::byte> data, int peer, int tag) override {
    in_pieces(data, longest_, [&](std::span<const std::byte> piece) {
      const int n = int(piece.size());
      carry_out(
          "MPI_Send", to(peer), [&] { return MPI_Send(piece.data(), n, MPI_BYTE, peer, tag, comm_); },
          [&](MPI_Request* request) {
            return MPI_Isend(piece.data(), n, MPI_BYTE, peer, tag, comm_, request);
          },
          MPI_STATUS_IGNORE);
      traffic::sent(piece.size());
    });
  }

  void receive(std::span<std::byte> data, int peer, int tag) override {
    in_pieces(data, longest_, [&](std::span<std::byte> piece) {
      const int n = int(piece.size());
      MPI_Status status;
      carry_out(
          "MPI_Recv", from(peer), [&] { return MPI_Recv(piece.data(), n, MPI_BYTE, peer, tag, comm_, &status); },
          [&](MPI_Request* request) {
            return MPI_Irecv(piece.data(), n, MPI_BYTE, peer, tag, comm_, request);
          },
          &status);
      need_size(status, piece.size(), rank_, "MPI_Recv", peer);
      traffic::received(piece.size());
    });
  }

  std::unique_ptr<wire> open_wire() override { return mpi_wire(comm_, longest_); }

  void abort(int code) override { must(MPI_Abort(MPI_COMM_WORLD, code), "MPI_Abort", who()); }

 private:
  std::string who() const { return name_of(rank_); }
  static std::string to(int peer) { return " to " + name_of(peer); }
  static std::string from(int peer) { return " from " + name_of(peer); }

  /// A call that blocks. Where one thread at a time may call MPI, nobody may wait inside: the other ranks may need
  /// what the other threads have to send. There it begins and is looked at again and again.
  template <class Call, class Begin>
  void carry_out(const char* call, const std::string& with, Call&& blocking, Begin&& begin, MPI_Status* status) {
    if (!one_caller()) return must(blocking(), call, who(), with);
    MPI_Request request = MPI_REQUEST_NULL;
    for (int done = 0;;) {
      {
        const auto turn = own_turn();
        if (request == MPI_REQUEST_NULL) must(begin(&request), call, who(), with);
        must(MPI_Test(&request, &done, status), call, who(), with);
      }
      if (done) return;
      std::this_thread::yield();
    }
  }

  MPI_Comm comm_;
  std::size_t longest_;
  int rank_ = 0;
  int size_ = 0;
};

}  // namespace

std::unique_ptr<transport> mpi_transport(std::size_t longest_message) {
  if (longest_message < 1 || longest_message > std::size_t(std::numeric_limits<int>::max()))
    throw input_error("the longest message must have 1 to 2^31 - 1 bytes");
  session::instance();
  MPI_Comm world = MPI_COMM_NULL;
  // A duplicate: plaq's messages never meet those of another library in the same program.
  must(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup", "plaq");
  return std::make_unique<mpi>(world, longest_message);
}

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

std::string mpiexec() { return PLAQ_MPIEXEC; }

}  // namespace plaq::comm
