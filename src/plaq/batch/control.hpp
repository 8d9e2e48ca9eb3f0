// How the caller watches and stops a run from another thread.
#pragma once
#include <atomic>

namespace plaq::batch {

struct control {
  /// finish: steps under way are the last; abandon: they are given up.
  enum : int { go_on = 0, finish = 1, abandon = 2 };
  std::atomic<int> stop{go_on};
  std::atomic<int> places{0};  ///< pieces that may be under way at once, now or in the end

  /// Something went wrong: as `finish`, where nobody has said more.
  void fail() noexcept {
    int going = go_on;
    stop.compare_exchange_strong(going, finish);
  }
};

}  // namespace plaq::batch
