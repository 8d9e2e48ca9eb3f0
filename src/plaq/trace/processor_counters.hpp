// Counters of the processor and the kernel for each thread: Linux's perf_event_open(2).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plaq::trace::detail {

inline constexpr std::size_t most_counters = 4;  ///< that a session records; more do not fit into a processor

/// Throws input_error unless the names are known, different and at most `most_counters`, and the kernel permits to
/// count all of them together here.
void demand_processor_counters(const std::vector<std::string>& names);

/// Makes these the counters that threads read from now on; none if `names` is empty.
///
/// @pre as `demand_processor_counters`
void choose_processor_counters(const std::vector<std::string>& names);

/// Values of the chosen counters, in their order, since the calling thread first read them.
class processor_counts {
 public:
  std::span<const std::uint64_t> values() const noexcept { return {values_.data(), count_}; }

 private:
  friend processor_counts read_processor_counters() noexcept;
  std::array<std::uint64_t, most_counters> values_;
  std::size_t count_ = 0;
};

/// Returns the counts of the calling thread: none if no counters are chosen, or if the kernel gives this thread none.
processor_counts read_processor_counters() noexcept;

}  // namespace plaq::trace::detail
