// Runs a schedule: starts every step as soon as the steps before it allow, and never waits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/comm/schedules/schedule.hpp"

namespace plaq::comm {

/// What carries out single steps: real bytes below, or the clock of a simulated machine.
class executor {
 public:
  executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;
  virtual ~executor() = default;
  /// Starts step `number`; true if it is complete already.
  virtual bool start(std::uint32_t number, const step& s) = 0;
  /// Appends the numbers of steps that are complete.
  virtual void finished(std::vector<std::uint32_t>& numbers) = 0;
};

/// One schedule on its way. Reusable: `begin` starts another.
class engine {
 public:
  /// Both must outlive the run.
  void begin(const schedule& todo, executor& by);
  /// Goes on as far as possible; true when all steps are complete.
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
