// Balancing without a rank that knows all loads: the rounds of a balance::protocol, between the ranks of a collection.
#pragma once
#include <array>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/balance/protocol.hpp"
#include "plaq/collection/runtime/wire_format.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::elements {

/// Message between ranks in a round of the balancing in `step`.
struct round_message {
  enum type : int {
    content,          ///< a message of the protocol; it is acknowledged
    acknowledgement,  ///< a message of the protocol has arrived
    report,           ///< reduced values of a rank and of all below it in the tree; all their messages have arrived
    next              ///< reduced values of all ranks: the next round
  };
  step_number step = 0;
  int round = 0, what = content, from = 0;
  balance::reduced_values values = {};
  balance::protocol_message message = {};
  void serialize(archive& ar) { ar(step, round, what, from, values, message); }
};

/// One balancing on this rank. A round is over when all its messages have arrived, which a tree of ranks detects; so
/// what a rank receives in a round depends on no order. Messages of other ranks may arrive before begin().
class peer_protocol {
 public:
  using send = std::function<void(const round_message&, int rank)>;
  using done = std::function<void(const balance::participant&)>;

  peer_protocol(step_number step, int rank, int ranks, send by)
      : step_(step), rank_(rank), ranks_(ranks), send_(std::move(by)) {}

  /// Begins when this rank's elements wait. `over` is called at the end.
  void begin(balance::participant self, balance::protocol by, const std::function<int(key)>& home, done over);
  void receive(round_message&& what);

 private:
  struct round {
    std::vector<balance::protocol_message> incoming = {};
    std::size_t unacknowledged = 0;  ///< messages of this rank that have not arrived
    std::array<std::optional<balance::reduced_values>, 2> below = {};
    bool reported = false;  ///< to the rank above
    std::optional<balance::reduced_values> reduced = {};
  };
  void proceed(std::unique_lock<task::mutex>& lock);
  bool end_round(round& now);
  void send_messages();

  const step_number step_;
  const int rank_, ranks_;
  const send send_;
  task::mutex guard_;
  std::optional<balance::participant> self_;
  std::optional<balance::coroutine> coroutine_;
  done over_;
  int round_ = -1;
  std::map<int, round> rounds_;
};

/// Balancings in progress on this rank, by step.
class peer_protocols {
 public:
  peer_protocols(int rank, int ranks, peer_protocol::send by) : rank_(rank), ranks_(ranks), send_(std::move(by)) {}

  /// Begins the balancing in a step. `over` or `fail` is called at the end; after fail(), `fail` at once.
  void begin(step_number step, balance::participant self, balance::protocol by, const std::function<int(key)>& home,
             peer_protocol::done over, std::function<void(std::exception_ptr)> fail);
  void receive(round_message&& what);
  /// Calls fail() of all balancings, and of each that begins later.
  void fail(const std::exception_ptr& why);

 private:
  std::shared_ptr<peer_protocol> find_or_make(step_number step);

  const int rank_, ranks_;
  const peer_protocol::send send_;
  task::mutex mutex_;  ///< of what follows
  std::map<step_number, std::shared_ptr<peer_protocol>> all_;
  std::map<step_number, std::function<void(std::exception_ptr)>> on_failure_;
  std::exception_ptr failure_ = nullptr;  ///< the first, after fail()
};

}  // namespace plaq::elements
