// MPI as a transport.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <string>

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

bool is_last(std::span<const std::byte> piece, std::span<const std::byte> whole) {
  return piece.data() + piece.size() == whole.data() + whole.size();
}

void need_size(const MPI_Status& status, std::size_t expected, int rank, const char* call, int peer) {
  int received = 0;
  must(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count", name_of(rank), " from " + name_of(peer));
  if (std::size_t(received) != expected)
    throw runtime_failure(name_of(rank) + ": " + call + " from " + name_of(peer) + " expected " +
                          std::to_string(expected) + " bytes and got " + std::to_string(received));
}

/// Non-blocking messages of one communicator.
class mpi_messages final : public messages {
 public:
  mpi_messages(MPI_Comm comm, int rank, std::size_t longest) : comm_(comm), rank_(rank), longest_(longest) {}

  ~mpi_messages() override {
    int finalized = 0;
    if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
    // Only after an error is anything left. A receive can be taken back, what was sent cannot.
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (under_way_[i].receives) MPI_Cancel(&requests_[i]);
      MPI_Request_free(&requests_[i]);
    }
  }

  void send(std::span<const std::byte> data, int peer, int tag, std::uint32_t number) override {
    in_pieces(data, longest_, [&](std::span<const std::byte> piece) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code = MPI_Isend(piece.data(), int(piece.size()), MPI_BYTE, peer, tag, comm_, &request);
      add(code, request, {number, peer, int(piece.size()), false}, is_last(piece, data));
    });
  }

  void receive(std::span<std::byte> data, int peer, int tag, std::uint32_t number) override {
    in_pieces(data, longest_, [&](std::span<std::byte> piece) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int code = MPI_Irecv(piece.data(), int(piece.size()), MPI_BYTE, peer, tag, comm_, &request);
      add(code, request, {number, peer, int(piece.size()), true}, is_last(piece, data));
    });
  }

  void finished(std::vector<std::uint32_t>& numbers, bool wait) override {
    const auto before = numbers.size();
    while (!requests_.empty()) {
      const int n = int(requests_.size());
      int count = 0;
      done_.resize(std::size_t(n));
      statuses_.resize(std::size_t(n));
      const int code =
          (wait ? MPI_Waitsome : MPI_Testsome)(n, requests_.data(), &count, done_.data(), statuses_.data());
      if (code != MPI_SUCCESS) fail(code, count, wait ? "MPI_Waitsome" : "MPI_Testsome");
      for (int i = 0; i < count; ++i) look_at(under_way_[std::size_t(done_[i])], statuses_[i], numbers);
      // The last fill the gaps; from the back, so that no gap is filled with a message that is done itself.
      std::sort(done_.begin(), done_.begin() + count, std::greater<>());
      for (int i = 0; i < count; ++i) {
        requests_[std::size_t(done_[i])] = requests_.back();
        under_way_[std::size_t(done_[i])] = under_way_.back();
        requests_.pop_back();
        under_way_.pop_back();
      }
      if (!wait || numbers.size() > before) return;
    }
  }

 private:
  struct message {
    std::uint32_t number;
    int peer, size;
    bool receives;
    std::string with() const { return (receives ? " from " : " to ") + name_of(peer); }
  };

  void add(int code, MPI_Request request, const message& m, bool last_piece) {
    if (code != MPI_SUCCESS) [[unlikely]]
      must(code, m.receives ? "MPI_Irecv" : "MPI_Isend", name_of(rank_), m.with());
    requests_.push_back(request);
    under_way_.push_back(m);
    if (!last_piece) ++further_pieces_[m.number];
  }

  void look_at(const message& m, const MPI_Status& status, std::vector<std::uint32_t>& numbers) {
    if (m.receives) {
      need_size(status, std::size_t(m.size), rank_, "MPI_Irecv", m.peer);
      traffic::received(std::size_t(m.size));
    } else {
      traffic::sent(std::size_t(m.size));
    }
    if (!further_pieces_.empty())
      if (const auto more = further_pieces_.find(m.number); more != further_pieces_.end()) {
        if (--more->second == 0) further_pieces_.erase(more);
        return;
      }
    numbers.push_back(m.number);
  }

  /// Throws for the first message that failed.
  [[noreturn]] void fail(int code, int count, const char* call) const {
    if (code == MPI_ERR_IN_STATUS)
      for (int i = 0; i < count; ++i)
        if (statuses_[i].MPI_ERROR != MPI_SUCCESS && statuses_[i].MPI_ERROR != MPI_ERR_PENDING)
          must(statuses_[i].MPI_ERROR, call, name_of(rank_), under_way_[std::size_t(done_[i])].with());
    must(code, call, name_of(rank_));
    throw runtime_failure(name_of(rank_) + ": " + call + " failed without saying why");
  }

  MPI_Comm comm_;
  int rank_;
  std::size_t longest_;
  std::vector<MPI_Request> requests_;
  std::vector<message> under_way_;
  std::map<std::uint32_t, int> further_pieces_;  // of messages in several pieces: all but one of those left
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
};

class mpi final : public transport {
 public:
  /// Takes the ownership of `comm`, which is not MPI's own world.
  mpi(MPI_Comm comm, std::size_t longest_message) : comm_(comm), longest_(longest_message) {
    must(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank", "plaq");
    must(MPI_Comm_size(comm_, &size_), "MPI_Comm_size", who());
    must(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler", who());
  }

  ~mpi() override {
    int finalized = 0;
    // Python may let go of a communicator after MPI has ended.
    if (MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized) MPI_Comm_free(&comm_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<transport> split(int color, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    must(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split", who());
    return std::make_unique<mpi>(part, longest_);
  }

  std::unique_ptr<transport> split_by_node() override {
    MPI_Comm part = MPI_COMM_NULL;
    must(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part), "MPI_Comm_split_type",
         who());
    return std::make_unique<mpi>(part, longest_);
  }

  void barrier() override { must(MPI_Barrier(comm_), "MPI_Barrier", who()); }

  void broadcast(std::span<std::byte> data, int root) override {
    in_pieces(data, longest_, [&](std::span<std::byte> piece) {
      must(MPI_Bcast(piece.data(), int(piece.size()), MPI_BYTE, root, comm_), "MPI_Bcast", who(), from(root));
      traffic::together(piece.size());
    });
  }

  void all_reduce(std::span<std::byte> data, scalar type, operation op) override {
    const std::size_t width = bytes(type);
    in_pieces(data, std::max(longest_ / width, std::size_t(1)) * width, [&](std::span<std::byte> piece) {
      must(MPI_Allreduce(MPI_IN_PLACE, piece.data(), int(piece.size() / width), mpi_type(type), mpi_operation(op),
                         comm_),
           "MPI_Allreduce", who());
      traffic::together(piece.size());
    });
  }

  void send(std::span<const std::byte> data, int peer, int tag) override {
    in_pieces(data, longest_, [&](std::span<const std::byte> piece) {
      must(MPI_Send(piece.data(), int(piece.size()), MPI_BYTE, peer, tag, comm_), "MPI_Send", who(), to(peer));
      traffic::sent(piece.size());
    });
  }

  void receive(std::span<std::byte> data, int peer, int tag) override {
    in_pieces(data, longest_, [&](std::span<std::byte> piece) {
      MPI_Status status;
      must(MPI_Recv(piece.data(), int(piece.size()), MPI_BYTE, peer, tag, comm_, &status), "MPI_Recv", who(),
           from(peer));
      need_size(status, piece.size(), rank_, "MPI_Recv", peer);
      traffic::received(piece.size());
    });
  }

  std::unique_ptr<messages> open_messages() override {
    return std::make_unique<mpi_messages>(comm_, rank_, longest_);
  }

  std::unique_ptr<wire> open_wire() override { return mpi_wire(comm_, longest_); }

  void abort(int code) override { must(MPI_Abort(MPI_COMM_WORLD, code), "MPI_Abort", who()); }

 private:
  std::string who() const { return name_of(rank_); }
  static std::string to(int peer) { return " to " + name_of(peer); }
  static std::string from(int peer) { return " from " + name_of(peer); }

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
