// Recorder: turns events into records in the ring of the thread where they happen.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "plaq/trace/buffer.hpp"
#include "plaq/trace/gpu_activity.hpp"
#include "plaq/trace/messages.hpp"
#include "plaq/trace/processor_counters.hpp"

namespace plaq::trace::detail::recorder {

inline std::uint64_t head(event kind) noexcept { return static_cast<std::uint64_t>(kind) << 56 | (ticks() & low_bits); }
inline std::uint64_t more(std::uint64_t number) noexcept {
  return static_cast<std::uint64_t>(event::more) << 56 | (number & low_bits);
}

/// Writes an event and, if counters are chosen, the counts of this thread after it.
template <class... Halves>
bool write_counted(ring& r, Halves... halves) noexcept {
  const processor_counts counts = read_processor_counters();
  const auto values = counts.values();
  if (values.empty()) [[likely]]
    return r.write(halves...);
  std::array<record, sizeof...(halves) + (most_counters + 1) / 2> all{halves...};
  std::size_t size = sizeof...(halves);
  for (std::size_t i = 0; i < values.size(); i += 2)
    all[size++] = {static_cast<std::uint64_t>(event::counts) << 56 | (values[i] & low_bits),
                   i + 1 < values.size() ? values[i + 1] : 0};
  return r.write(std::span<const record>(all.data(), size));
}

inline void created(std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept {
  if (ring* r = own_ring()) r->write({head(event::created), id}, {more(r->number_of(name)), parent});
}
inline void has_worker(event kind, std::uint64_t id, int worker) noexcept {
  if (ring* r = own_ring()) {
    r->set_task(id);
    if (auto* begins = gpu_task_begins.load(std::memory_order_relaxed)) [[unlikely]]
      begins(id);
    write_counted(*r, record{head(kind), id | static_cast<std::uint64_t>(worker) << worker_shift});
  }
}
inline void has_none(event kind, std::uint64_t id) noexcept {
  if (ring* r = own_ring()) {
    r->set_task(0);
    if (auto* ends = gpu_task_ends.load(std::memory_order_relaxed)) [[unlikely]]
      ends();
    write_counted(*r, record{head(kind), id});
  }
}
inline void ready(std::uint64_t id) noexcept {
  if (ring* r = own_ring()) r->write({head(event::ready), id});
}
inline void linked(std::uint64_t from, std::uint64_t to) noexcept {
  if (ring* r = own_ring()) r->write({head(event::linked), from}, {more(0), to});
}

inline void message(event kind, const message_id& id, std::size_t bytes) noexcept {
  const auto sender = static_cast<std::uint64_t>(id.sender), receiver = static_cast<std::uint64_t>(id.receiver);
  const auto ends = sender << 40 | (receiver & 0xffffff) << 16 | (static_cast<std::uint64_t>(id.tag) & 0xffff);
  if (ring* r = own_ring())
    r->write({head(kind), static_cast<std::uint64_t>(id.wire) << 32 | id.number}, {more(bytes), ends});
}

/// Begins a region; returns its number, 0 if it could not be recorded.
inline std::uint64_t region_begin(std::string_view name) noexcept {
  ring* r = own_ring();
  if (!r) return 0;
  const std::uint64_t number = r->new_region();
  const record first{head(event::region_begin), r->task()}, second{more(r->number_of(name)), number};
  return write_counted(*r, first, second) ? number : 0;
}
/// Begins a region of a task's subject, as region_begin.
inline std::uint64_t subject_begin(std::uint32_t name) noexcept {
  ring* r = own_ring();
  if (!r) return 0;
  const std::uint64_t number = r->new_region();
  const record first{head(event::region_begin), r->task()}, second{more(name) | is_subject, number};
  return write_counted(*r, first, second) ? number : 0;
}
inline void region_end(std::uint64_t region) noexcept {
  if (ring* r = own_ring()) write_counted(*r, record{head(event::region_end), region});
}

}  // namespace plaq::trace::detail::recorder
