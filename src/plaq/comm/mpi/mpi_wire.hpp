// Wire over MPI, for each of its interfaces. Arrivals are taken off MPI's queue as they come (MPI_Improbe) and matched
// above, so that neither MPI nor a look at it has to go through the receives that are still waiting.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "plaq/comm/mpi/functions.hpp"
#include "plaq/comm/mpi/node_board.hpp"
#include "plaq/comm/mpi/own_yields.hpp"
#include "plaq/comm/wire/traffic.hpp"
#include "plaq/comm/wire/wire.hpp"
#include "plaq/task/doorbell.hpp"

namespace plaq::comm {

/// MPI's handles are pointers or ints.
template <class T>
wire::handle to_handle(T value) {
  return (wire::handle)(value);
}
template <class T>
T from_handle(wire::handle h) {
  return (T)(h);
}

/// A count and a type that describe the bytes of a message; MPI counts in int.
template <class Abi>
class typed {
  static constexpr const auto& mpi = mpi_of<Abi>;
  using handle = typename Abi::handle;

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
      handle block = run_of(m.block, longest);
      must<Abi>(mpi.Type_create_hvector(int(m.count), 1, std::ptrdiff_t(m.stride), block, &type),
                "MPI_Type_create_hvector");
      must<Abi>(mpi.Type_free(&block), "MPI_Type_free");
    }
    must<Abi>(mpi.Type_commit(&type), "MPI_Type_commit");
  }
  typed(const typed&) = delete;
  ~typed() {
    if (type != mpi.is.byte) mpi.Type_free(&type);  // MPI keeps it for the messages that use it
  }

  int count = 0;
  handle type = mpi.is.byte;

 private:
  static handle run_of(std::size_t bytes, std::size_t longest) {
    handle run = mpi.is.no_type;
    if (bytes <= longest) {
      must<Abi>(mpi.Type_contiguous(int(bytes), mpi.is.byte, &run), "MPI_Type_contiguous");
      return run;
    }
    handle piece = mpi.is.no_type;
    must<Abi>(mpi.Type_contiguous(int(longest), mpi.is.byte, &piece), "MPI_Type_contiguous");
    const std::size_t pieces = bytes / longest, rest = bytes % longest;
    const std::array<int, 2> lengths{int(pieces), int(rest)};
    const std::array<std::ptrdiff_t, 2> places{0, std::ptrdiff_t(pieces * longest)};
    const std::array<handle, 2> types{piece, mpi.is.byte};
    must<Abi>(mpi.Type_create_struct(2, lengths.data(), places.data(), types.data(), &run), "MPI_Type_create_struct");
    must<Abi>(mpi.Type_free(&piece), "MPI_Type_free");
    return run;
  }
};

/// Ranks of this node, in its order, and their doorbells.
template <class Abi>
struct neighbours {
  std::span<task::detail::doorbell::place> places;
  typename Abi::handle group{};
  int count = 0;  ///< 0: not joined

  static inline neighbours of_process;
};

/// Returns a number for a wire that another wire of the job has with a probability of 2^-32.
std::uint32_t fresh_number();

template <class Abi>
class mpi_wire final : public wire {
  static constexpr const auto& mpi = mpi_of<Abi>;
  using mpi_handle = typename Abi::handle;
  using status = typename Abi::status;

 public:
  /// Makes a wire over a duplicate of `over`. Collective. Buffers longer than `longest_message` bytes travel in pieces.
  /// @pre MPI can count `longest_message` bytes (input_error).
  static std::unique_ptr<wire> duplicate_of(mpi_handle over, std::size_t longest_message) {
    if (longest_message < 1 || longest_message > std::size_t(std::numeric_limits<int>::max()))
      throw input_error("the longest message must have 1 to 2^31 - 1 bytes");
    const auto turn = lock_mpi<Abi>();
    mpi_handle own = mpi.is.no_comm;
    must<Abi>(mpi.Comm_dup(over, &own), "MPI_Comm_dup");
    return std::make_unique<mpi_wire>(own, longest_message);
  }

  /// Owns `made`. With the turn.
  mpi_wire(mpi_handle made, std::size_t longest) : comm_(made), longest_(longest) {
    must<Abi>(mpi.Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    must<Abi>(mpi.Comm_size(comm_, &size_), "MPI_Comm_size");
    must<Abi>(mpi.Comm_set_errhandler(comm_, mpi.is.errors_return), "MPI_Comm_set_errhandler");
    find_bells();
    agree_on_number();
  }
  ~mpi_wire() override {
    const auto turn = lock_mpi<Abi>();
    if (is_running()) mpi.Comm_free(&comm_);  // Python may let go of it after MPI has ended
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::uint32_t number() const override { return number_; }

  // MPI has no way to make these without waiting, so here the other threads do wait.
  std::unique_ptr<wire> duplicate() override { return duplicate_of(comm_, longest_); }
  std::unique_ptr<wire> split(int color, int key) override {
    const auto turn = lock_mpi<Abi>();
    mpi_handle part = mpi.is.no_comm;
    must<Abi>(mpi.Comm_split(comm_, color, key, &part), "MPI_Comm_split", rank_text());
    return std::make_unique<mpi_wire>(part, longest_);
  }
  std::unique_ptr<wire> split_by_node() override {
    const auto turn = lock_mpi<Abi>();
    return std::make_unique<mpi_wire>(node_of(comm_), longest_);
  }
  /// Makes the communicator of the ranks of `comm` on this node, in its order.
  static mpi_handle node_of(mpi_handle comm) {
    int rank = 0;
    must<Abi>(mpi.Comm_rank(comm, &rank), "MPI_Comm_rank");
    mpi_handle part = mpi.is.no_comm;
    must<Abi>(mpi.Comm_split_type(comm, Abi::shared_memory, rank, mpi.is.no_info, &part), "MPI_Comm_split_type",
              "rank " + std::to_string(rank));
    return part;
  }
  /// Returns its group, which the caller owns.
  mpi_handle group() const {
    mpi_handle made{};
    must<Abi>(mpi.Comm_group(comm_, &made), "MPI_Comm_group");
    return made;
  }

  handle send(const blocks& from, int peer, int tag) override {
    const auto turn = lock_mpi<Abi>();
    const typed<Abi> what(from, longest_);
    mpi_handle request = mpi.is.no_request;
    must<Abi>(mpi.Isend(from.data, what.count, what.type, peer, tag, comm_, &request), "MPI_Isend");
    traffic::count_sent(from.bytes());
    ring(peer);
    return to_handle(request);
  }

  handle receive(const blocks& to, int peer, int tag) override {
    const auto turn = lock_mpi<Abi>();
    const typed<Abi> what(to, longest_);
    mpi_handle request = mpi.is.no_request;
    must<Abi>(mpi.Irecv(to.data, what.count, what.type, peer, tag, comm_, &request), "MPI_Irecv");
    traffic::count_received(to.bytes());
    return to_handle(request);
  }
  void cancel(handle receive) override {
    const auto turn = lock_mpi<Abi>();
    auto request = from_handle<mpi_handle>(receive);
    if (is_running() && mpi.Cancel(&request) == 0) mpi.Request_free(&request);
  }

  std::optional<arrival> next_arrival() override {
    const auto turn = lock_mpi<Abi>();
    int there = 0;
    mpi_handle message = mpi.is.no_message;
    status its;
    const quick_poll quick;
    for (int look = looks(); look > 0 && !there; --look)
      must<Abi>(mpi.Improbe(Abi::any_source, Abi::any_tag, comm_, &there, &message, &its), "MPI_Improbe");
    if (!there) return std::nullopt;
    long long bytes = 0;
    must<Abi>(mpi.Get_elements_x(&its, mpi.is.byte, &bytes), "MPI_Get_elements_x");
    return arrival{its.source, its.tag, std::size_t(bytes), to_handle(message)};
  }

  handle receive(const arrival& which, const blocks& to) override {
    const auto turn = lock_mpi<Abi>();
    const typed<Abi> what(to, longest_);
    mpi_handle request = mpi.is.no_request;
    auto message = from_handle<mpi_handle>(which.message);
    must<Abi>(mpi.Imrecv(to.data, what.count, what.type, &message, &request), "MPI_Imrecv");
    traffic::count_received(to.bytes());
    return to_handle(request);
  }

  handle prepare_send(const blocks& from, int peer, int tag) override {
    const auto turn = lock_mpi<Abi>();
    const typed<Abi> what(from, longest_);
    mpi_handle request = mpi.is.no_request;
    must<Abi>(mpi.Send_init(from.data, what.count, what.type, peer, tag, comm_, &request), "MPI_Send_init");
    if (!bells_.empty()) peers_of_prepared_[to_handle(request)] = peer;
    return to_handle(request);
  }
  void start(handle prepared, std::size_t bytes) override {
    const auto turn = lock_mpi<Abi>();
    auto request = from_handle<mpi_handle>(prepared);
    must<Abi>(mpi.Start(&request), "MPI_Start");
    if (const auto found = peers_of_prepared_.find(prepared); found != peers_of_prepared_.end()) ring(found->second);
    traffic::count_sent(bytes);
  }
  void forget(handle prepared) override {
    const auto turn = lock_mpi<Abi>();
    auto request = from_handle<mpi_handle>(prepared);
    peers_of_prepared_.erase(prepared);
    if (is_running()) mpi.Request_free(&request);
  }

  void test(std::span<handle> in_progress, std::vector<end>& ends) override {
    if (in_progress.empty()) return;
    const auto turn = lock_mpi<Abi>();
    if (in_progress.size() == 1) return test_one(in_progress[0], ends);
    const std::size_t n = in_progress.size();
    requests_.resize(n);
    which_.resize(n);
    statuses_.resize(n);
    std::ranges::transform(in_progress, requests_.begin(), from_handle<mpi_handle>);
    int count = 0;
    const quick_poll quick;
    int code = 0;
    for (int look = looks(); look > 0 && code == 0 && count == 0; --look)
      code = mpi.Testsome(int(n), requests_.data(), &count, which_.data(), statuses_.data());
    if (code != Abi::error_in_status) must<Abi>(code, "MPI_Testsome");
    for (int i = 0; i < std::max(count, 0); ++i) {
      const auto number = std::size_t(which_[std::size_t(i)]);
      const status& its = statuses_[std::size_t(i)];
      ends.push_back(end_of(number, its, code == 0 ? 0 : its.error));
      ring_sender(ends.back(), its);
      in_progress[number] = to_handle(requests_[number]);  // a prepared one stays what it is
    }
  }

 private:
  /// Sends the number that rank 0 chooses along a binomial tree.
  void agree_on_number() {
    if (rank_ == 0) number_ = fresh_number();
    const auto finish = [](mpi_handle request) {
      int done = 0;
      for (task::detail::message_pace pace;; pace.wait()) {
        must<Abi>(mpi.Test(&request, &done, std::array<status, 1>().data()), "MPI_Test");
        if (done) return;
      }
    };
    mpi_handle request = mpi.is.no_request;
    int distance = 1;
    while (distance < size_ && (rank_ & distance) == 0) distance *= 2;
    if (rank_ > 0) {
      must<Abi>(mpi.Irecv(&number_, sizeof number_, mpi.is.byte, rank_ - distance, 0, comm_, &request), "MPI_Irecv");
      finish(request);
    }
    for (distance /= 2; distance > 0; distance /= 2) {
      if (rank_ + distance >= size_) continue;
      must<Abi>(mpi.Isend(&number_, sizeof number_, mpi.is.byte, rank_ + distance, 0, comm_, &request), "MPI_Isend");
      ring(rank_ + distance);
      finish(request);
    }
  }

  /// Number of looks of a poll. MPI may take a message off the network at the end of a look and show it at the next.
  static int looks() { return task::detail::doorbell::is_armed() ? 2 : 1; }
  /// Finds the doorbells of those ranks that are on this node.
  void find_bells() {
    const auto& near = neighbours<Abi>::of_process;
    if (near.places.empty() || size_ == 1) return;
    std::vector<int> there(std::size_t(near.count)), here(there.size());
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = int(i);
    mpi_handle own = group();
    must<Abi>(mpi.Group_translate_ranks(near.group, near.count, there.data(), own, here.data()),
              "MPI_Group_translate_ranks");
    must<Abi>(mpi.Group_free(&own), "MPI_Group_free");
    for (std::size_t i = 0; i < here.size(); ++i)
      if (here[i] >= 0 && here[i] < size_) bells_.push_back({here[i], &near.places[i].bell});
    std::ranges::sort(bells_, {}, &peer_bell::peer);
  }
  /// Wakes a rank that sleeps, after something was sent to it.
  void ring(int peer) const {
    if (bells_.empty()) return;
    std::size_t i = std::size_t(peer - bells_[0].peer);  // where ranks of a node follow each other
    if (i >= bells_.size() || bells_[i].peer != peer) {
      i = std::size_t(std::ranges::lower_bound(bells_, peer, {}, &peer_bell::peer) - bells_.begin());
      if (i == bells_.size() || bells_[i].peer != peer) return;
    }
    task::detail::doorbell::ring(*bells_[i].bell, task::detail::doorbell::shares_cores());
  }
  /// Tells the sender of a long message that it was received: MPI may have sent it a word of its own.
  void ring_sender(const end& received, const status& its) const {
    constexpr std::size_t sent_at_once = 1024;
    if (received.error.empty() && received.bytes > sent_at_once && its.source != rank_) ring(its.source);
  }

  std::string rank_text() const { return "rank " + std::to_string(rank_); }

  /// Tests one handle, the most frequent case, without lists.
  void test_one(handle& one, std::vector<end>& ends) {
    auto request = from_handle<mpi_handle>(one);
    int done = 0;
    status its;
    const quick_poll quick;
    const int error = mpi.Test(&request, &done, &its);
    if (error == 0 && !done) return;
    ends.push_back(end_of(0, its, error));
    ring_sender(ends.back(), its);
    one = to_handle(request);
  }
  static end end_of(std::size_t index, const status& its, int error) {
    if (error != 0) return {index, 0, in_words<Abi>(error)};
    long long bytes = 0;
    must<Abi>(mpi.Get_elements_x(&its, mpi.is.byte, &bytes), "MPI_Get_elements_x");
    return {index, std::size_t(bytes), ""};
  }
  static bool is_running() {
    int finalized = 0;
    return mpi.Finalized(&finalized) == 0 && !finalized;
  }

  mpi_handle comm_ = mpi.is.no_comm;
  std::size_t longest_;
  int rank_ = 0, size_ = 0;
  std::uint32_t number_ = 0;
  struct peer_bell {
    int peer;
    task::detail::doorbell::state* bell;
  };
  std::vector<peer_bell> bells_;  // of the ranks of this node, by rank
  std::unordered_map<handle, int> peers_of_prepared_;
  std::vector<mpi_handle> requests_;  // of test()
  std::vector<int> which_;
  std::vector<status> statuses_;
};

}  // namespace plaq::comm
