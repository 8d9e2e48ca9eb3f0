// Buffers of events: one ring per thread, written by that thread alone and read by the session alone.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/trace/clock.hpp"

namespace plaq::trace::detail {

/// Kinds of records. The numbers are those of the file.
enum class event : std::uint8_t {
  created = 1,       ///< task; more: name, parent
  started = 2,       ///< task and worker
  suspended = 3,     ///< task
  ready = 4,         ///< task
  resumed = 5,       ///< task and worker
  finished = 6,      ///< task
  linked = 7,        ///< source; more: target
  region_begin = 8,  ///< task or 0; more: name (and is_subject), region
  region_end = 9,    ///< region
  more = 10,         ///< the second half of the record before: a number of 56 bits and one of 64
  sent = 11,         ///< wire << 32 | number; more: bytes, sender << 40 | receiver << 16 | tag
  received = 12,     ///< the same
  counts = 13        ///< after an event: values of two counters, the first of 56 bits
};

/// Record: the event's kind and time (or number) in one word, its subject in the other.
struct record {
  std::uint64_t head;  ///< kind << 56 | low 56 bits of the ticks
  std::uint64_t subject;
};

inline constexpr std::uint64_t low_bits = (std::uint64_t(1) << 56) - 1;
inline constexpr std::uint64_t is_subject = std::uint64_t(1)
                                            << 32;  ///< beside a name: the region is the subject of a task
inline constexpr int worker_shift = 48;             ///< in a subject with a task's id (below) and a worker

/// Number of the session that records, or of the last one.
extern std::atomic<unsigned> session_number;

class ring {
 public:
  /// Makes a ring; `number` is the thread's, unique in the process. Throws std::bad_alloc.
  ring(std::size_t records, int number);
  ~ring();
  ring(const ring&) = delete;

  // The thread's side.

  bool write(record only) noexcept {
    return put(1, [&](record* at, std::size_t) { *at = only; });
  }
  bool write(record first, record second) noexcept {
    return put(2, [&](record* at, std::size_t room) { at[0] = first, (room > 1 ? at[1] : records_[0]) = second; });
  }
  /// Writes all of these or, if they do not fit, none.
  bool write(std::span<const record> all) noexcept {
    return put(all.size(), [&](record* at, std::size_t room) {
      const std::size_t before_end = std::min(room, all.size());
      std::copy_n(all.begin(), before_end, at);
      std::copy(all.begin() + static_cast<std::ptrdiff_t>(before_end), all.end(), records_);
    });
  }
  std::uint32_t number_of(std::string_view name);
  std::uint64_t new_region() noexcept { return (static_cast<std::uint64_t>(number_) + 1) << 40 | ++regions_; }
  /// Sets the task that the thread runs: 0 if there is none, or if not known since the session began.
  void set_task(std::uint64_t id) noexcept { task_ = id, task_session_ = current_session(); }
  std::uint64_t task() const noexcept { return task_session_ == current_session() ? task_ : 0; }

  // The session's side.

  std::uint64_t written() const noexcept { return head_.load(std::memory_order_acquire); }
  std::uint64_t read() const noexcept { return tail_.load(std::memory_order_relaxed); }
  /// Records [from, from + count) as they lie in memory: at most two pieces.
  struct piece {
    const record* first;
    std::size_t count;
  };
  std::array<piece, 2> pieces(std::uint64_t from, std::uint64_t to) const noexcept;
  void consume(std::uint64_t to) noexcept { tail_.store(to, std::memory_order_release); }
  std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
  int number() const noexcept { return number_; }
  long kernel_id() const noexcept { return kernel_id_; }
  const std::string& thread_name() const noexcept { return thread_name_; }
  /// Drops the records written so far, which belong to an earlier session.
  void forget() noexcept {
    consume(written());
    lost_.store(0, std::memory_order_relaxed);
  }
  std::atomic<bool> abandoned{false};  ///< set when its thread has ended

 private:
  template <class Store>
  bool put(std::uint64_t count, Store store) noexcept {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    if (head + count - tail_seen_ > size_) [[unlikely]] {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head + count - tail_seen_ > size_) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    }
    const std::uint64_t at = head & (size_ - 1);
    store(records_ + at, size_ - at);
    head_.store(head + count, std::memory_order_release);
    if ((head ^ (head + count)) & (size_ / 4)) [[unlikely]]
      call_session();
    return true;
  }
  void call_session() noexcept;
  static unsigned current_session() noexcept { return session_number.load(std::memory_order_relaxed); }

  record* records_;
  std::uint64_t size_;  ///< a power of two
  int number_;
  long kernel_id_;
  std::string thread_name_;
  std::uint64_t tail_seen_ = 0, regions_ = 0, task_ = 0;
  unsigned task_session_ = 0;
  struct known_name {
    const char* text = nullptr;
    std::size_t length = 0;
    std::uint32_t number = 0;
  };
  std::array<known_name, 64> known_{};
  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::atomic<std::uint64_t> lost_{0};
  alignas(64) std::atomic<std::uint64_t> tail_{0};
};

/// Ring of the calling thread, made at its first event; nullptr if there is no memory or the thread is ending.
ring* own_ring() noexcept;
/// Number of events that were lost without a ring.
std::uint64_t lost_without_ring() noexcept;

/// All rings, in the order of their numbers. Only the session calls the following functions, one at a time.
std::vector<ring*> rings();
void set_ring_size(std::size_t records);
/// Frees the ring of a thread that has ended, after the caller has read it.
void free_ring(ring* old);

/// Returns the number of a name, a new one at its first use. Throws std::bad_alloc.
std::uint32_t number_of_name(std::string_view name);
/// Names [from, ...) in the order of their numbers.
std::vector<std::string> names_from(std::size_t from);

/// Wakes the session; called by a thread when another quarter of its ring has filled.
void wake_session() noexcept;

}  // namespace plaq::trace::detail
