// The chains of a rank while they run: those that wait for a worker, and those that came back from one. Other threads
// may add and take chains meanwhile, so that ranks can help each other.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "plaq/dca/chain.hpp"
#include "plaq/trace/counters.hpp"

namespace plaq::dca {

/// Chains come back when their bins are complete, when the run is stopped, or between bins: recalled, or because
/// more run than there are places for. All members may be called from any thread.
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
  /// How many chains may run at once; none until this is said. Fewer than now do so when their bins end.
  void set_places(int places);

  // What run_chains does:

  /// The next to be run as soon as there is a place; nothing when all is done, or stopped by `c`, if given, and
  /// come back.
  std::optional<chain_state> next(const control* c);
  enum class leave { no, recalled, makes_way };
  /// Whether a chain between two bins should come back; says so as often as chains were recalled, and until few
  /// enough are left.
  leave between_bins();
  void put_back(chain_state s, bool complete, leave why);

 private:
  void count_running(int change);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<chain_state> waiting_;
  std::vector<chain_state> recalled_, complete_;
  int running_ = 0, places_ = 0;
  int leaving_ = 0;  ///< of those that run, to make way
  int wanted_ = 0;
  bool closed_ = false;
  trace::counter places_counter_{"places for chains", "chains"}, running_counter_{"chains in flight", "chains"};
};

}  // namespace plaq::dca
