// Runner of a schedule: starts a step as soon as its dependences allow, and never waits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/comm/schedules/schedule.hpp"

namespace plaq::comm {

/// Executor of single steps: on real bytes, or on the clock of a simulated machine.
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;
  /// Starts step `number`. Returns whether it is complete already.
  virtual bool start(std::uint32_t number, const step& s) = 0;
  /// Appends the numbers of steps that are complete.
  virtual void finished(std::vector<std::uint32_t>& numbers) = 0;
};

/// Progress of one schedule. Reusable: `begin` starts another.
class schedule_runner {
 public:
  /// Begins a schedule. Both arguments outlive the run.
  void begin(const schedule& todo, executor& by);
  /// Advances as far as possible. Returns whether all steps are complete.
  bool progress();
  bool done() const { return complete_ == steps_; }

 private:
  void start_ready();
  void mark_complete(std::uint32_t number);

  const schedule* todo_ = nullptr;
  executor* by_ = nullptr;
  std::size_t steps_ = 0, started_ = 0, complete_ = 0;
  std::vector<std::uint32_t> waits_for_, ready_, finished_;
};

}  // namespace plaq::comm
