// Balancing by ranks that know little: what one of them holds, says and hears, in rounds that all ranks do
// together. The same code runs on the ranks of a job (../conversation.hpp) and, one after the other, in a replay.
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

#include "plaq/collection/balance/situation.hpp"

namespace plaq::balance {

using id = std::uint64_t;

/// An element that it talks to, and how much.
struct peer {
  id of;
  int rank;  ///< where it is, as far as is known, after so many changes of hands
  int hands;
  double weight;
};

/// An element, as far as balancing goes: these change hands until all are content, then the elements move.
struct item {
  id of = 0;
  double load = 0, bytes = 0;
  int from = 0;                  ///< the rank that the element is on
  int hands = 0;                 ///< how often it has changed hands
  std::vector<peer> peers = {};  ///< by id
  void serialize(auto& ar) { ar(of, load, bytes, from, hands, peers); }
};

/// For an element: where another is that it talks to, and by how much.
struct note {
  id of, other;
  int rank, hands;
  double weight;
};

/// What one rank says to another in a round.
struct said {
  /// What few rounds need.
  struct more {
    std::vector<std::pair<int, double>> loads = {};  ///< of ranks
    std::vector<item> items = {};
    std::vector<note> notes = {};
    void serialize(auto& ar) { ar(loads, items, notes); }
  };
  int from = 0, to = 0;
  std::array<double, 3> numbers{};
  std::unique_ptr<more> with = {};

  more& rest() {
    if (!with) with = std::make_unique<more>();
    return *with;
  }
  void serialize(auto& ar) {
    bool some = with != nullptr;
    ar(from, to, numbers, some);
    if (some) ar(rest());
  }
};

/// What all ranks come to together by the end of a round: sums, in the order of a tree of ranks, and maxima.
struct together {
  std::array<double, 3> sum{}, highest{};
  void add(const together& other);
};

/// The elements that a rank would have.
class holding {
 public:
  explicit holding(std::vector<item> all);
  void add(item one);
  item take(id which);
  item* find(id which);

  std::map<id, item> items;
  double load = 0, bytes = 0;
};

/// A rank in a balancing.
struct talk {
  const int rank, ranks;
  double most_bytes = std::numeric_limits<double>::infinity();
  std::vector<item> mine;  ///< the elements that are here, by id; peers are those that they have sent to
  double price = 0;        ///< seconds for each byte that moves, of this rank; at the end of all

  // A round ends where the coroutine suspends. Then these are exchanged:
  std::vector<said> out = {};    ///< what this rank says; to each rank at most one
  together own = {};             ///< and its part of what all come to
  std::vector<said> heard = {};  ///< by sender
  together all = {};

  // What it comes to, at the end:
  std::vector<std::pair<id, int>> moves = {};  ///< of elements that are here
  double before = 0, after = 0, mean = 0, largest = 0, moved = 0, moved_bytes = 0;
  double most_carried = 0;  ///< the bytes of moves from and to a rank, of that which has most

  // For the balancers:
  double lowest = std::numeric_limits<double>::infinity();  ///< the highest load of any rank, of the best so far
  std::vector<std::pair<id, int>> best = {};  ///< what this rank has in that: elements and where they are now
  double best_load = 0, best_bytes = 0, best_kept = 0;

  bool has_room(const holding& have, const item& one) const { return have.bytes + one.bytes <= most_bytes; }
  said& say(int to);
  /// Keeps what there is if it is better than all before; `highest` is the same on every rank.
  void judge(const holding& have, double highest);
};

/// A coroutine that says and hears for a rank. All ranks are at the end in the same round.
class speech {
 public:
  struct promise_type {
    std::exception_ptr error = nullptr;
    speech get_return_object() { return speech(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  speech(speech&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  ~speech() {
    if (at_) at_.destroy();
  }
  /// Until the next round ends; false if there is none.
  bool resume() {
    at_.resume();
    if (at_.done() && at_.promise().error) std::rethrow_exception(at_.promise().error);
    return !at_.done();
  }

 private:
  explicit speech(std::coroutine_handle<promise_type> at) : at_(at) {}
  std::coroutine_handle<promise_type> at_;
};
inline constexpr std::suspend_always round_ends{};

/// A balancer, as a rank does it: makes talk::best from what the rank holds.
using method = speech (*)(talk&, holding&);
speech gossip_of(talk& t, holding& have);
speech diffusion_of(talk& t, holding& have);

/// All of a balancing: what all have, the method, and word to where the elements are.
speech whole(talk& t, method by);

/// The plan that the ranks come to, one after the other in each round.
plan in_turns(const situation& s, method by);

}  // namespace plaq::balance
