// Which task a worker takes first, and where it may run.
#pragma once
#include <bit>
#include <cstdint>

namespace plaq::task {

/// Order of the tasks that are ready: a worker takes those of high priority first, those of low priority once it finds
/// no other. A running task is not interrupted. So that none starves, now and then the oldest task comes first.
enum class priority : std::int16_t { normal, high, low };

/// Domain of memory (NUMA node) on whose workers a task runs: 0 ... pool.domains() - 1.
struct on_domain {
  int number = 0;
};

namespace detail {

/// Priority and domain, which the creator of a task tells the scheduler.
struct attributes {
  static constexpr std::int16_t any = -1;
  task::priority priority = task::priority::normal;
  std::int16_t domain = any;
  /// Whether they are the default. One comparison: every task is asked.
  bool ordinary() const noexcept;
};
inline bool attributes::ordinary() const noexcept {
  return std::bit_cast<std::uint32_t>(*this) == std::bit_cast<std::uint32_t>(attributes{});
}

}  // namespace detail
}  // namespace plaq::task
