// Doorbell of this process: a word in memory shared with other processes of the machine. They ring it after sending to
// this one, so that threads which wait for messages may sleep.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

#include "plaq/task/gate.hpp"

namespace plaq::task::detail {

namespace doorbell {

/// Bit 0: threads sleep; the others count rings. Zero at first.
using state = std::atomic<std::uint32_t>;

/// State of a process among others of its machine.
struct alignas(64) place {
  state bell;
  std::atomic<std::uint32_t> shares;  ///< whether its cores serve other processes of the job: 0 unknown, 1 no, 2 yes
};

/// Takes the place of this process, in memory that stays mapped; null for none. Once, before other threads poll.
void use(place* own) noexcept;
/// Whether this process has a place.
bool in_use() noexcept;
/// Takes an estimate of whether cores are shared, which holds while the place does not tell.
void expect_sharing(bool shares) noexcept;
/// Whether other processes of the job use this one's cores.
bool shares_cores() noexcept;

/// Announces a sleep. What is sent later rings; the caller polls once more for what was sent before.
std::uint32_t arm() noexcept;
/// Whether threads are about to sleep, so that the next poll has to find what is there.
bool is_armed() noexcept;
/// Sleeps from arm() on until a ring or for `most`, without a place for `most`. Returns whether it rang.
bool sleep(std::uint32_t armed, std::chrono::microseconds most) noexcept;
/// Waits at a gate from arm() on, until it opens or a ring or `deadline` comes. Returns whether it was open.
bool wait_at(gate& closed, std::uint32_t armed, clock::time_point deadline) noexcept;
/// Opens a gate at which a thread may wait with wait_at().
void open(gate& closed) noexcept;

/// Wakes the threads that sleep at the bell of a process. A ring may be lost if the memory of this process is slower
/// than the sleep of the other, which lasts for half a millisecond at most; none is if cores are shared.
void wake(state& bell) noexcept;
inline void ring(state& bell, bool shares) noexcept {
  if (shares) std::atomic_thread_fence(std::memory_order_seq_cst);  // what was sent before the look at the bell
  if (bell.load(std::memory_order_relaxed) & 1) [[unlikely]]
    wake(bell);
}

}  // namespace doorbell

/// Gives the core away for a moment. Returns whether to do so again: not if others keep it for long, since a thread
/// that sleeps gets it back sooner; nor, where cores are shared, if no process takes it, since other ranks may belong
/// to another group of the kernel's scheduler, to which no yield leads.
bool yield_core(bool shares) noexcept;

/// Pace of a thread outside of tasks that has nothing to do but to poll for a message.
class message_pace {
 public:
  /// Waits a moment. To be called between polls.
  void wait() noexcept;

 private:
  bool watch() noexcept;

  int polls_ = 0;
  bool spins_ = true, armed_ = false;
  std::uint32_t armed_at_ = 0;
  clock::time_point since_{};
  std::chrono::microseconds nap_{0};
};

}  // namespace plaq::task::detail
