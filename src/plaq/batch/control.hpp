// Control of a run by the caller, from another thread.
#pragma once
#include <atomic>

namespace plaq::batch {

/// Control of a run: requests to stop it, and the number of its slots. Any thread may read and write.
struct control {
  /// Requests: `finish` stops after the steps in progress; `abandon` gives these up too.
  enum : int { go_on = 0, finish = 1, abandon = 2 };
  std::atomic<int> stop{go_on};
  std::atomic<int> slots{0};  ///< pieces that may be in progress at once, now or at the end

  /// Requests `finish` after an error, unless there was an earlier request.
  void fail() noexcept {
    int going = go_on;
    stop.compare_exchange_strong(going, finish);
  }
};

}  // namespace plaq::batch
