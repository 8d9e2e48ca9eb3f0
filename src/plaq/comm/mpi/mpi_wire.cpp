// Arrivals are taken off MPI's queue as they come (MPI_Improbe) and matched above, so that neither MPI nor a look
// at it has to go through the receives that are still waiting.
#include "plaq/comm/mpi/mpi_wire.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "plaq/comm/wire/traffic.hpp"

namespace plaq::comm {

namespace {

/// MPI's handles are pointers or ints.
template <class T>
wire::handle to_handle(T value) {
  return (wire::handle)(value);
}
template <class T>
T from_handle(wire::handle h) {
  return (T)(h);
}
static_assert(sizeof(MPI_Request) <= sizeof(wire::handle) && sizeof(MPI_Message) <= sizeof(wire::handle));

void must(int code, const char* call) {
  if (code != MPI_SUCCESS) [[unlikely]]  // the words cost more than a call that goes well
    plaq::comm::must(code, call, "plaq");
}

/// A count and a type that describe the bytes of a message; MPI counts in int.
class typed {
 public:
  typed(const blocks& m, std::size_t longest) {
    if (m.contiguous() && m.bytes() <= longest) {
      count = int(m.bytes());
      return;
    }
    if (m.count > std::size_t(std::numeric_limits<int>::max()))
      throw input_error("a strided message may have 2^31 - 1 blocks, not " + std::to_string(m.count));
    count = 1;
    if (m.contiguous()) {
      type = run_of(m.bytes(), longest);
    } else {
      MPI_Datatype block = run_of(m.block, longest);
      must(MPI_Type_create_hvector(int(m.count), 1, MPI_Aint(m.stride), block, &type), "MPI_Type_create_hvector");
      must(MPI_Type_free(&block), "MPI_Type_free");
    }
    must(MPI_Type_commit(&type), "MPI_Type_commit");
  }
  typed(const typed&) = delete;
  ~typed() {
    if (type != MPI_BYTE) MPI_Type_free(&type);  // MPI keeps it for the messages that use it
  }

  int count = 0;
  MPI_Datatype type = MPI_BYTE;

 private:
  static MPI_Datatype run_of(std::size_t bytes, std::size_t longest) {
    MPI_Datatype run = MPI_DATATYPE_NULL;
    if (bytes <= longest) {
      must(MPI_Type_contiguous(int(bytes), MPI_BYTE, &run), "MPI_Type_contiguous");
      return run;
    }
    MPI_Datatype piece = MPI_DATATYPE_NULL;
    must(MPI_Type_contiguous(int(longest), MPI_BYTE, &piece), "MPI_Type_contiguous");
    const std::size_t pieces = bytes / longest, rest = bytes % longest;
    const std::array<int, 2> lengths{int(pieces), int(rest)};
    const std::array<MPI_Aint, 2> places{0, MPI_Aint(pieces * longest)};
    const std::array<MPI_Datatype, 2> types{piece, MPI_BYTE};
    must(MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &run), "MPI_Type_create_struct");
    must(MPI_Type_free(&piece), "MPI_Type_free");
    return run;
  }
};

class mpi final : public wire {
 public:
  /// Owns `made`. With the turn.
  mpi(MPI_Comm made, std::size_t longest) : comm_(made), longest_(longest) {
    must(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    must(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    must(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~mpi() override {
    const auto turn = lock_mpi();
    if (is_running()) MPI_Comm_free(&comm_);  // Python may let go of it after MPI has ended
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  // MPI has no way to make these without waiting, so here the other threads do wait.
  std::unique_ptr<wire> duplicate() override { return mpi_wire(comm_, longest_); }
  std::unique_ptr<wire> split(int color, int key) override {
    const auto turn = lock_mpi();
    MPI_Comm part = MPI_COMM_NULL;
    plaq::comm::must(MPI_Comm_split(comm_, color, key, &part), "MPI_Comm_split", rank_text());
    return std::make_unique<mpi>(part, longest_);
  }
  std::unique_ptr<wire> split_by_node() override {
    const auto turn = lock_mpi();
    MPI_Comm part = MPI_COMM_NULL;
    plaq::comm::must(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &part),
                     "MPI_Comm_split_type", rank_text());
    return std::make_unique<mpi>(part, longest_);
  }

  handle send(const blocks& from, int peer, int tag) override {
    const auto turn = lock_mpi();
    const typed what(from, longest_);
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Isend(from.data, what.count, what.type, peer, tag, comm_, &request), "MPI_Isend");
    traffic::count_sent(from.bytes());
    return to_handle(request);
  }

  handle receive(const blocks& to, int peer, int tag) override {
    const auto turn = lock_mpi();
    const typed what(to, longest_);
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Irecv(to.data, what.count, what.type, peer, tag, comm_, &request), "MPI_Irecv");
    traffic::count_received(to.bytes());
    return to_handle(request);
  }
  void cancel(handle receive) override {
    const auto turn = lock_mpi();
    auto request = from_handle<MPI_Request>(receive);
    if (is_running() && MPI_Cancel(&request) == MPI_SUCCESS) MPI_Request_free(&request);
  }

  std::optional<arrival> next_arrival() override {
    const auto turn = lock_mpi();
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    must(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &there, &message, &status), "MPI_Improbe");
    if (!there) return std::nullopt;
    MPI_Count bytes = 0;
    must(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
    return arrival{status.MPI_SOURCE, status.MPI_TAG, std::size_t(bytes), to_handle(message)};
  }

  handle receive(const arrival& which, const blocks& to) override {
    const auto turn = lock_mpi();
    const typed what(to, longest_);
    MPI_Request request = MPI_REQUEST_NULL;
    auto message = from_handle<MPI_Message>(which.message);
    must(MPI_Imrecv(to.data, what.count, what.type, &message, &request), "MPI_Imrecv");
    traffic::count_received(to.bytes());
    return to_handle(request);
  }

  handle prepare_send(const blocks& from, int peer, int tag) override {
    const auto turn = lock_mpi();
    const typed what(from, longest_);
    MPI_Request request = MPI_REQUEST_NULL;
    must(MPI_Send_init(from.data, what.count, what.type, peer, tag, comm_, &request), "MPI_Send_init");
    return to_handle(request);
  }
  void start(handle prepared, std::size_t bytes) override {
    const auto turn = lock_mpi();
    auto request = from_handle<MPI_Request>(prepared);
    must(MPI_Start(&request), "MPI_Start");
    traffic::count_sent(bytes);
  }
  void forget(handle prepared) override {
    const auto turn = lock_mpi();
    auto request = from_handle<MPI_Request>(prepared);
    if (is_running()) MPI_Request_free(&request);
  }

  void test(std::span<handle> in_progress, std::vector<end>& ends) override {
    if (in_progress.empty()) return;
    const auto turn = lock_mpi();
    if (in_progress.size() == 1) return test_one(in_progress[0], ends);
    const std::size_t n = in_progress.size();
    requests_.resize(n);
    which_.resize(n);
    statuses_.resize(n);
    std::ranges::transform(in_progress, requests_.begin(), from_handle<MPI_Request>);
    int count = 0;
    const int code = MPI_Testsome(int(n), requests_.data(), &count, which_.data(), statuses_.data());
    if (code != MPI_ERR_IN_STATUS) must(code, "MPI_Testsome");
    for (int i = 0; i < std::max(count, 0); ++i) {
      const auto number = std::size_t(which_[std::size_t(i)]);
      const MPI_Status& status = statuses_[std::size_t(i)];
      ends.push_back(end_of(number, status, code == MPI_SUCCESS ? MPI_SUCCESS : status.MPI_ERROR));
      in_progress[number] = to_handle(requests_[number]);  // a prepared one stays what it is
    }
  }

 private:
  std::string rank_text() const { return "rank " + std::to_string(rank_); }

  /// Tests one handle, the most frequent case, without lists.
  static void test_one(handle& one, std::vector<end>& ends) {
    auto request = from_handle<MPI_Request>(one);
    int done = 0;
    MPI_Status status;
    const int error = MPI_Test(&request, &done, &status);
    if (error == MPI_SUCCESS && !done) return;
    ends.push_back(end_of(0, status, error));
    one = to_handle(request);
  }
  static end end_of(std::size_t index, const MPI_Status& status, int error) {
    if (error != MPI_SUCCESS) return {index, 0, in_words(error)};
    MPI_Count bytes = 0;
    must(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
    return {index, std::size_t(bytes), ""};
  }
  static bool is_running() {
    int finalized = 0;
    return MPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::size_t longest_;
  int rank_ = 0, size_ = 0;
  std::vector<MPI_Request> requests_;  // of test()
  std::vector<int> which_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace

std::unique_ptr<wire> mpi_wire(MPI_Comm over, std::size_t longest_message) {
  if (longest_message < 1 || longest_message > std::size_t(std::numeric_limits<int>::max()))
    throw input_error("the longest message must have 1 to 2^31 - 1 bytes");
  const auto turn = lock_mpi();
  MPI_Comm own = MPI_COMM_NULL;
  must(MPI_Comm_dup(over, &own), "MPI_Comm_dup");
  return std::make_unique<mpi>(own, longest_message);
}

}  // namespace plaq::comm
