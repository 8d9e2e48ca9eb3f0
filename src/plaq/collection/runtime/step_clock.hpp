// Processor time of steps, at the price of two readings of the trace's clock.
#pragma once
#include <cstdint>
#include <optional>

namespace plaq::elements {

/// Clock of a step, from its construction on.
///
/// A step without interruption has as much processor time as time. Interruptions by another thread last longer than
/// some 30 microseconds, so only steps longer than that ask the system for the processor time of the thread; that of
/// other steps since the last such reading, at most as long, may be added to theirs.
class step_clock {
 public:
  step_clock();
  /// Processor time in seconds, or nothing if the step goes on in another thread than it began in.
  std::optional<double> seconds() const;

 private:
  const void* thread_;
  std::uint64_t start_;  ///< in ticks
};

}  // namespace plaq::elements
