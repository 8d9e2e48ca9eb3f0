// The chains of a rank while they run: those that wait for a worker, and those that came back from one. Other threads
// may add and take chains meanwhile, so that ranks can help each other.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "plaq/dca/chain.hpp"

namespace plaq::dca {

/// Chains come back when their bins are complete, when the run is stopped, or between bins when they are recalled. All
/// members may be called from any thread.
class chain_queue {
 public:
  struct load {
    int waiting = 0;  ///< for a worker, or recalled
    int running = 0;
  };

  /// The last to be run.
  void add(chain_state s);
  /// Nothing will be added any more: run_chains returns when nothing is left.
  void close();

  /// Up to `most` chains that wait: those that were recalled, then the last ones.
  std::vector<chain_state> take(std::size_t most);
  /// Those that have all their bins.
  std::vector<chain_state> take_complete();
  /// Lets chains of earlier calls that nobody took wait for a worker again, and calls back so many of those that
  /// run, at the end of their bin.
  void recall(int chains);
  load state() const;

  // What run_chains does:

  /// The next to be run as soon as fewer than `most` do; nothing when all is done, or stopped by `c`, if given, and come
  /// back.
  std::optional<chain_state> next(std::size_t most, const control* c);
  /// Whether a chain between two bins should come back; says so as often as chains were recalled.
  bool recalled();
  void put_back(chain_state s, bool complete, bool was_recalled);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<chain_state> waiting_;
  std::vector<chain_state> recalled_, complete_;
  std::size_t running_ = 0;
  int wanted_ = 0;
  bool closed_ = false;
};

}  // namespace plaq::dca
