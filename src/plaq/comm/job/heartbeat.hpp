// Heartbeat of ranks: a thread of each rank replies to polls, so that a rank that hangs, was stopped or has ended is
// named by those that wait for it.
#pragma once
#include <vector>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// Heartbeat of all ranks of a job, from the first call to the end of the process. Ranks poll only in long waits;
/// otherwise it costs a test of MPI's queue 20 times a second. `comm::world` makes it.
class heartbeat {
 public:
  enum class activity : int { works, waits, ended };

  /// Last report of a rank.
  struct report {
    double age = -1;                  ///< seconds since it arrived; negative: none
    activity what = activity::works;  ///< of the thread that made the heartbeat
    double idle = 0;                  ///< seconds for which that thread has used no processor
  };

  /// Returns the heartbeat of this process. Collective at the first call, from the main thread; `world` is all ranks.
  ///
  /// From then on a rank that ends waits for the others to end. If its exit code is not 0 and they do not end within
  /// some seconds, it aborts the job with a line on standard error.
  static heartbeat& in(const communicator& world);

  /// Sets whether this thread waits for other ranks.
  void set_waiting(bool yes);
  /// Polls these ranks every `period` seconds from now on; none: stops. Drops earlier reports.
  void poll(std::vector<int> ranks, double period);
  /// Returns the last report of a rank since poll().
  report report_of(int rank) const;
  /// Number of ranks of the job.
  int size() const;

  /// Checks collective operations in progress from now on. Aborts the job, with a line on standard error, if this rank
  /// waits in one that cannot complete: a rank has made another call, or one of another length; has ended, or destroyed
  /// its `collectives`, without it; or has not replied for `timeout` seconds. A rank that computes replies.
  void check_calls(double timeout);

  /// Declares that all ranks have agreed to end, with any exit code.
  void agree_to_end();

 private:
  struct implementation;
  explicit heartbeat(const communicator& world);
  static void leave(int code, void*);

  implementation* work_;  ///< never destroyed: needed until the process ends
};

}  // namespace plaq::comm
