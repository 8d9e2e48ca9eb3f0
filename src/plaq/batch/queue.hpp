// Pieces of work of a rank during a run: those that wait for a worker, and those that came back from one. Other threads
// may add and take pieces meanwhile, for load balance between ranks.
#pragma once
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/batch/control.hpp"
#include "plaq/trace/counters.hpp"

namespace plaq::batch {

/// Reason why a piece comes back between two of its steps.
enum class leave_reason { none, recalled, preempted };

/// Queue of pieces. A piece is a state, cheap to move, that advances step by step: the patch of a mesh, a gauge
/// configuration, a Markov chain. Pieces come back when they are complete, when the run is stopped, or between steps:
/// recalled, or because there are fewer slots than running pieces. All members may be called from any thread.
template <class Piece>
class queue {
 public:
  using piece = Piece;
  /// Pieces of the queue that are not complete.
  struct load {
    int waiting = 0;  ///< pieces that wait for a worker, or were recalled
    int running = 0;
  };

  /// Makes a queue; `plural` is the name of its pieces in a trace.
  explicit queue(const std::string& plural = "pieces")
      : slots_counter_("slots for " + plural, plural), running_counter_(plural + " in flight", plural) {}

  /// Adds a piece at the end of the queue.
  void add(Piece p) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(p));
    changed_.notify_all();
  }

  /// Declares that nothing will be added: run() returns when all pieces are complete.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  /// Takes up to `most` waiting pieces: the recalled ones, then the last ones.
  std::vector<Piece> take(std::size_t most) {
    const std::lock_guard lock(mutex_);
    std::vector<Piece> out;
    const auto from_the_end = [&](auto& pieces) {
      for (; out.size() < most && !pieces.empty(); pieces.pop_back()) out.push_back(std::move(pieces.back()));
    };
    from_the_end(recalled_);
    from_the_end(waiting_);
    return out;
  }

  std::vector<Piece> take_complete() {
    const std::lock_guard lock(mutex_);
    return std::exchange(complete_, {});
  }

  /// Recalls `pieces` running pieces, at the end of their step. Pieces of earlier calls that were not taken wait for a
  /// worker again.
  void recall(int pieces) {
    const std::lock_guard lock(mutex_);
    for (Piece& p : recalled_) waiting_.push_front(std::move(p));
    recalled_.clear();
    to_recall_ = pieces;
    changed_.notify_all();
  }

  load state() const {
    const std::lock_guard lock(mutex_);
    return {int(waiting_.size() + recalled_.size()), running_};
  }

  /// Sets the number of pieces that may run at once; initially none. If more are running, the excess comes back at the
  /// end of their steps.
  void set_slots(int slots) {
    const std::lock_guard lock(mutex_);
    slots_ = slots;
    slots_counter_.set(slots);
    changed_.notify_all();
  }

  // For the runners:

  /// Returns the next piece, as soon as there is a slot; nothing when all are complete, or stopped by `c`, and back.
  std::optional<Piece> next(const control& c) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const bool stopped = c.stop.load() != control::go_on;
      if (running_ == 0 && (stopped || (closed_ && waiting_.empty()))) return std::nullopt;
      if (!stopped && !waiting_.empty() && running_ < slots_) {
        Piece out = std::move(waiting_.front());
        waiting_.pop_front();
        count_running(+1);
        return out;
      }
      changed_.wait(lock);
    }
  }

  /// Returns all waiting pieces, to be run at once.
  ///
  /// @pre the queue is closed, else runtime_failure
  std::vector<Piece> all() {
    const std::lock_guard lock(mutex_);
    check(closed_, "pieces that run together need a closed queue");
    std::vector<Piece> out(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
    waiting_.clear();
    count_running(int(out.size()));
    return out;
  }

  /// Returns whether a piece between two steps should come back: once for every recalled piece, and until the number of
  /// running pieces fits the slots.
  leave_reason between_steps() {
    const std::lock_guard lock(mutex_);
    if (to_recall_ > 0) {
      --to_recall_;
      return leave_reason::recalled;
    }
    if (running_ - leaving_ <= slots_) return leave_reason::none;
    ++leaving_;
    return leave_reason::preempted;
  }

  void put_back(Piece p, bool complete, leave_reason why) {
    const std::lock_guard lock(mutex_);
    if (why == leave_reason::preempted) --leaving_;
    if (complete)
      complete_.push_back(std::move(p));
    else if (why == leave_reason::recalled)
      recalled_.push_back(std::move(p));
    else
      waiting_.push_front(std::move(p));
    count_running(-1);
    changed_.notify_all();
  }

 private:
  void count_running(int change) {
    running_ += change;
    running_counter_.set(running_);
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Piece> waiting_;
  std::vector<Piece> recalled_, complete_;
  int running_ = 0, slots_ = 0;
  int leaving_ = 0;  ///< running pieces that were preempted
  int to_recall_ = 0;
  bool closed_ = false;
  trace::counter slots_counter_, running_counter_;
};

}  // namespace plaq::batch
