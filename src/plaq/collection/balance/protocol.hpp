// Balancing protocols: ranks that do not know all loads exchange messages in rounds. The same code runs on the ranks of
// a job (../runtime/peer_protocol.hpp) and, one rank after the other, in a replay.
#pragma once
#include <array>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "plaq/collection/balance/load_distribution.hpp"

namespace plaq::balance {

/// Key of an element.
using element_id = std::uint64_t;

/// Element that another one sends to.
struct peer {
  element_id id;
  int rank;  ///< as far as is known, after that number of transfers
  int transfers;
  double weight;  ///< bytes sent
};

/// Element in a balancing. Ranks transfer these until the plan has converged; then the elements migrate.
struct element_info {
  element_id id = 0;
  double load = 0, bytes = 0;
  int origin = 0;                ///< rank that the element itself is on
  int transfers = 0;             ///< number of transfers so far
  std::vector<peer> peers = {};  ///< by id
  void serialize(auto& ar) { ar(id, load, bytes, origin, transfers, peers); }
};

/// Update to the element `id`: rank of its peer, and the weight between them.
struct peer_update {
  element_id id, peer;
  int rank, transfers;
  double weight;
};

/// Message from one rank to another in a round.
struct protocol_message {
  /// Contents that few rounds need.
  struct contents {
    std::vector<std::pair<int, double>> loads = {};  ///< of ranks
    std::vector<element_info> elements = {};
    std::vector<peer_update> updates = {};
    void serialize(auto& ar) { ar(loads, elements, updates); }
  };
  int from = 0, to = 0;
  std::array<double, 3> numbers{};
  std::unique_ptr<contents> more = {};

  /// Returns the contents, empty at first.
  contents& content() {
    if (!more) more = std::make_unique<contents>();
    return *more;
  }
  void serialize(auto& ar) { ar(from, to, numbers, more); }
};

/// Values that all ranks reduce in a round: sums, in the order of a tree of ranks, and maxima.
struct reduced_values {
  std::array<double, 3> sum{}, highest{};
  void add(const reduced_values& other);
};

/// Elements assigned to a rank by the plan so far.
class assignment {
 public:
  explicit assignment(std::vector<element_info> all);
  void add(element_info fresh);
  /// Removes and returns an element. @pre It is there.
  element_info take(element_id id);
  /// Element of this id, or null.
  element_info* find(element_id id);

  std::map<element_id, element_info> elements;
  double load = 0, bytes = 0;
};

/// State of a rank in a balancing.
struct participant {
  const int rank, ranks;
  double most_bytes = std::numeric_limits<double>::infinity();
  std::vector<element_info> local;  ///< elements that are here, by id; peers are those that they have sent to
  double seconds_per_byte = 0;      ///< of moves of this rank; of all ranks at the end

  // Exchanged where the coroutine suspends, at the end of a round:
  std::vector<protocol_message> outgoing = {};  ///< at most one to each rank
  reduced_values own = {};                      ///< contribution of this rank
  std::vector<protocol_message> incoming = {};  ///< by sender
  reduced_values reduced = {};                  ///< of all ranks

  // Result, at the end:
  std::vector<std::pair<element_id, int>> moves = {};  ///< of elements that are here, to ranks
  double before = 0, after = 0, mean = 0, largest = 0, moved = 0, moved_bytes = 0;
  double most_moved_bytes = 0;  ///< bytes that move from and to a rank, maximum over ranks

  // Best plan so far:
  double lowest = std::numeric_limits<double>::infinity();  ///< its highest load of a rank
  std::vector<std::pair<element_id, int>> best = {};  ///< elements that it assigns to this rank, and where they are
  double best_load = 0, best_bytes = 0, best_kept = 0;

  bool has_room(const assignment& assigned, const element_info& one) const {
    return assigned.bytes + one.bytes <= most_bytes;
  }
  /// Returns the message of this round to a rank, empty at first.
  protocol_message& message_to(int rank);
  /// Keeps the plan if its highest load, which is the same on every rank, is the lowest so far.
  void keep_if_better(const assignment& assigned, double highest);
};

/// Coroutine of a rank. It suspends at the end of a round; all ranks end in the same round.
class coroutine {
 public:
  struct promise_type {
    std::exception_ptr error = nullptr;
    coroutine get_return_object() { return coroutine(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  coroutine(coroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~coroutine() {
    if (handle_) handle_.destroy();
  }
  /// Runs to the end of the round. Returns false at the end of the coroutine. Throws what it throws.
  bool resume() {
    handle_.resume();
    if (handle_.done() && handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    return !handle_.done();
  }

 private:
  explicit coroutine(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};
/// End of a round: `co_await next_round`.
inline constexpr std::suspend_always next_round{};

/// Balancer as a protocol of ranks: makes participant::best from the elements assigned to this rank.
using protocol = coroutine (*)(participant&, assignment&);
coroutine gossip_protocol(participant& self, assignment& assigned);
coroutine diffusion_protocol(participant& self, assignment& assigned);

/// Runs a balancing: reduces loads, runs the protocol, and informs the ranks that the elements are on. Throws
/// input_error if the sum of loads is not below too_much.
coroutine run_protocol(participant& self, protocol by);

/// Returns the plan of a protocol, whose ranks take turns in each round.
plan simulate_protocol(const load_distribution& s, protocol by);

}  // namespace plaq::balance
