// The pieces of work of a rank while they run: those that wait for a worker, and those that came back from one.
// Other threads may add and take pieces meanwhile, so that ranks can help each other.
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

/// Why a piece comes back between two of its steps.
enum class leave { no, recalled, makes_way };

/// A piece is a state, cheap to move, that is taken on step by step: the patch of a mesh, a gauge configuration, a
/// Markov chain. Pieces come back when they are complete, when the run is stopped, or between steps: recalled, or
/// because more run than there are places for. All members may be called from any thread.
template <class Piece>
class queue {
 public:
  using piece = Piece;
  struct load {
    int waiting = 0;  ///< for a worker, or recalled
    int running = 0;
  };

  /// `plural` is what a trace calls the pieces.
  explicit queue(const std::string& plural = "pieces")
      : places_counter_("places for " + plural, plural), running_counter_(plural + " in flight", plural) {}

  /// The last to be run.
  void add(Piece p) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(p));
    changed_.notify_all();
  }

  /// Nothing will be added any more: run() returns when nothing is left.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  /// Up to `most` pieces that wait: those that were recalled, then the last ones.
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

  /// Lets pieces of earlier calls that nobody took wait for a worker again, and calls back so many of those that
  /// run, at the end of their step.
  void recall(int pieces) {
    const std::lock_guard lock(mutex_);
    for (Piece& p : recalled_) waiting_.push_front(std::move(p));
    recalled_.clear();
    wanted_ = pieces;
    changed_.notify_all();
  }

  load state() const {
    const std::lock_guard lock(mutex_);
    return {int(waiting_.size() + recalled_.size()), running_};
  }

  /// How many pieces may run at once; none until this is said. Fewer than now do so when their steps end.
  void set_places(int places) {
    const std::lock_guard lock(mutex_);
    places_ = places;
    places_counter_.set(places);
    changed_.notify_all();
  }

  // What the runners do:

  /// The next to be run as soon as there is a place; nothing when all is done, or stopped by `c`, and come back.
  std::optional<Piece> next(const control& c) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const bool stopped = c.stop.load() != control::go_on;
      if (running_ == 0 && (stopped || (closed_ && waiting_.empty()))) return std::nullopt;
      if (!stopped && !waiting_.empty() && running_ < places_) {
        Piece out = std::move(waiting_.front());
        waiting_.pop_front();
        count_running(+1);
        return out;
      }
      changed_.wait(lock);
    }
  }

  /// All that wait, to be run at once. Nothing may be added any more.
  std::vector<Piece> all() {
    const std::lock_guard lock(mutex_);
    check(closed_, "pieces that run together are all there before they begin: close the queue first");
    std::vector<Piece> out(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
    waiting_.clear();
    count_running(int(out.size()));
    return out;
  }

  /// Whether a piece between two steps should come back; says so as often as pieces were recalled, and until few
  /// enough are left.
  leave between_steps() {
    const std::lock_guard lock(mutex_);
    if (wanted_ > 0) {
      --wanted_;
      return leave::recalled;
    }
    if (running_ - leaving_ <= places_) return leave::no;
    ++leaving_;
    return leave::makes_way;
  }

  void put_back(Piece p, bool complete, leave why) {
    const std::lock_guard lock(mutex_);
    if (why == leave::makes_way) --leaving_;
    if (complete)
      complete_.push_back(std::move(p));
    else if (why == leave::recalled)
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
  int running_ = 0, places_ = 0;
  int leaving_ = 0;  ///< of those that run, to make way
  int wanted_ = 0;
  bool closed_ = false;
  trace::counter places_counter_, running_counter_;
};

}  // namespace plaq::batch
