// Events of tasks that pools report. Without a listener each event costs one predictable branch.
#pragma once
#include <atomic>
#include <cstdint>
#include <string_view>

namespace plaq::trace {

/// Listener to the events of every task: created, started, then any number of (suspended, ready, resumed), finished.
///
/// `ready` comes when a suspended task may resume; a task that only yielded, or was woken before it slept, has none. A
/// task that waits for results before it starts (then, dataflow) has one `ready` between created and started.
/// `linked(from, to)` reports that `to` used a product of `from`: a result, an item of a channel; it may come more than
/// once for the same two.
///
/// Ids are unique in the process and never 0. The events of one task come one after the other, those of different tasks
/// from several threads at once. `name` lives as long as the process. `worker` counts from 0; pools that exist at once
/// have different workers, but for those of HPX, which share them. A listener must neither throw, nor wait, nor start
/// tasks, nor call set_listener.
class listener {
 public:
  virtual ~listener() = default;
  /// Called for a new task; `parent` is the task that called async, 0 outside of tasks.
  virtual void created(std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept = 0;
  virtual void started(std::uint64_t id, int worker) noexcept = 0;
  virtual void suspended(std::uint64_t id) noexcept = 0;
  virtual void ready(std::uint64_t id) noexcept = 0;
  virtual void resumed(std::uint64_t id, int worker) noexcept = 0;
  virtual void finished(std::uint64_t id) noexcept = 0;
  virtual void linked(std::uint64_t from, std::uint64_t to) noexcept = 0;
};

/// Makes `next` the listener of the process (nullptr: none) and returns the previous one. On return the previous one is
/// not called any more and may be destroyed. A new listener misses the earlier events of running tasks.
listener* set_listener(listener* next);

namespace detail {
/// Receivers of events: the listener, the session that records (see session.hpp), both or none.
enum : unsigned { none = 0, to_listener = 1, to_session = 2 };
extern std::atomic<unsigned> audience;
void created(std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept;
void started(std::uint64_t id, int worker) noexcept;
void suspended(std::uint64_t id) noexcept;
void ready(std::uint64_t id) noexcept;
void resumed(std::uint64_t id, int worker) noexcept;
void finished(std::uint64_t id) noexcept;
void linked(std::uint64_t from, std::uint64_t to) noexcept;
inline bool listening() noexcept { return audience.load(std::memory_order_relaxed) != none; }
}  // namespace detail

/// Returns whether a session records now.
inline bool recording() noexcept { return detail::audience.load(std::memory_order_relaxed) & detail::to_session; }

/// Reports a new task `id`, made by the task `parent` (0: outside of tasks).
inline void created(std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept {
  if (detail::listening()) [[unlikely]]
    detail::created(id, parent, name);
}
/// Reports that the task runs for the first time, on this worker.
inline void started(std::uint64_t id, int worker) noexcept {
  if (detail::listening()) [[unlikely]]
    detail::started(id, worker);
}
/// Reports that the task waits.
inline void suspended(std::uint64_t id) noexcept {
  if (detail::listening()) [[unlikely]]
    detail::suspended(id);
}
/// Reports that the suspended task may resume.
inline void ready(std::uint64_t id) noexcept {
  if (detail::listening()) [[unlikely]]
    detail::ready(id);
}
/// Reports that the task runs again, on this worker.
inline void resumed(std::uint64_t id, int worker) noexcept {
  if (detail::listening()) [[unlikely]]
    detail::resumed(id, worker);
}
/// Reports that the task has ended.
inline void finished(std::uint64_t id) noexcept {
  if (detail::listening()) [[unlikely]]
    detail::finished(id);
}
/// Reports that `to` used a product of `from`; does nothing if either is 0, which is no task.
inline void linked(std::uint64_t from, std::uint64_t to) noexcept {
  if (detail::listening()) [[unlikely]]
    detail::linked(from, to);
}

}  // namespace plaq::trace
