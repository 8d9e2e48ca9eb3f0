// Termination detection by four counters (F. Mattern, "Algorithms for distributed termination detection", Distributed
// Computing 2 (1987) 161), as a state machine without communication.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace plaq::comm {

/// Counts of a rank, or their sum over several: `sent` counts what was begun or sent, ended() what has ended.
template <class T>
concept summable_counts = std::default_initializable<T> && requires(T& sum, const T& counts) {
  { counts.sent } -> std::convertible_to<std::uint64_t>;
  { counts.ended() } -> std::convertible_to<std::uint64_t>;
  sum.add(counts);
};

/// State of one rank. A wave runs up a binary tree of ranks and adds their counts; rank 0 decides and begins the next
/// wave. Nothing was in progress between two waves if the first found as many ended as the second finds sent.
template <summable_counts Counts>
class four_counters {
 public:
  four_counters(int rank, int ranks) : rank_(rank) {
    for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; ++child) children_.push_back(child);
  }

  /// Rank that the report goes to; 0 for rank 0, which decides instead.
  int parent() const { return rank_ == 0 ? 0 : (rank_ - 1) / 2; }
  /// Ranks whose reports come here, and to which decisions go.
  const std::vector<int>& children() const { return children_; }

  /// Adds the report of a child.
  void receive(const Counts& of_child) {
    below_.add(of_child);
    ++received_;
  }
  /// Whether all children have reported in this wave, and this rank has not.
  bool ready() const { return !reported_ && received_ == children_.size(); }
  /// Returns the counts of this rank and of all below it. @pre ready(); the counts of this rank are `own`.
  Counts report(Counts own) {
    own.add(std::exchange(below_, {}));
    received_ = 0;
    reported_ = true;
    return own;
  }
  /// Returns whether nothing was in progress between the previous wave and this one. On rank 0, of the counts of all.
  bool decide(const Counts& all) { return std::exchange(ended_before_, all.ended()) == all.sent; }
  /// Begins the next wave, after the decision on this one.
  void begin_wave() { reported_ = false; }
  /// Forgets the previous wave, after termination.
  void reset() { ended_before_.reset(); }

 private:
  const int rank_;
  std::vector<int> children_;
  Counts below_ = {};
  std::size_t received_ = 0;
  bool reported_ = false;
  std::optional<std::uint64_t> ended_before_;
};

}  // namespace plaq::comm
