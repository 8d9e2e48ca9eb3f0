// Who is there: each rank has a thread that answers for it whatever the others do, so that one which stands still,
// was stopped or has ended can be named by those that wait for it.
#pragma once
#include <vector>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// Of all ranks of a job; from its making to the end of the process. Nobody asks as long as nobody waits for long, so
/// that it costs a look at MPI's queue 20 times a second. `comm::world` makes it.
class presence {
 public:
  enum class doing : int { works, waits, ended };

  /// What a rank last said of itself.
  struct sign {
    double ago = -1;            ///< seconds since it was heard; negative: never
    doing what = doing::works;  ///< of the thread that made the presence
    double still = 0;           ///< seconds for which that thread has used no processor
  };

  /// The presence of this process in its job. Collective at the first call, from the main thread; `world` is all
  /// ranks.
  ///
  /// From then on a rank that ends waits for the others to end. Where its exit code is not 0 and they do not for
  /// some seconds, it ends the job with a line on standard error: nobody else can know, and nobody else is left to
  /// say it.
  static presence& in(const communicator& world);

  /// Whether this thread waits for others.
  void waits(bool yes);
  /// Ask these ranks from now on, every `period` seconds; none to ask no more. What was heard before is forgotten.
  void ask(std::vector<int> ranks, double period);
  /// [rank] what is known since `ask`.
  std::vector<sign> heard() const;

  /// From now on the job ends, with a line on standard error, where this rank waits in a collective operation in which
  /// it cannot be joined: a rank has made another call instead, or one of another length; has ended, or let go of its
  /// `collectives`, without it; or has given no sign of life for `patience` seconds. Ranks that compute for long are
  /// waited for.
  void look_after_calls(double patience);

  /// All ranks have agreed to end, whatever their exit code.
  void ends_together();

 private:
  struct implementation;
  explicit presence(const communicator& world);
  static void leave(int code, void*);

  implementation* work_;  ///< never destroyed: it is needed until the process ends
};

}  // namespace plaq::comm
