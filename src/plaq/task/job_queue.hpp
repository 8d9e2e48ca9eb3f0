// Jobs of one worker that are ready to run.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "plaq/task/waiter.hpp"

namespace plaq::task::detail {

/// Queue whose owner takes the newest job (LIFO), while others steal the oldest. A ring under a spin lock: cheaper than
/// a lock-free deque, whose owner needs a full fence for each job too, and jobs can be added at either end.
class job_queue {
 public:
  void push_new(job& j) {
    std::lock_guard lock(lock_);
    make_room();
    ring_[(first_ + size()) & mask_] = &j;
    resize(size() + 1);
  }
  void push_old(job& j) {
    std::lock_guard lock(lock_);
    make_room();
    first_ = (first_ - 1) & mask_;
    ring_[first_] = &j;
    resize(size() + 1);
  }
  job* pop_new() {
    std::lock_guard lock(lock_);
    if (size() == 0) return nullptr;
    resize(size() - 1);
    return ring_[(first_ + size()) & mask_];
  }
  job* pop_old() {
    std::lock_guard lock(lock_);
    return size() ? take_first() : nullptr;
  }

  static constexpr std::size_t most = 32;
  /// Takes half of the jobs, the oldest, at most `most`. Returns how many.
  std::size_t pop_half(std::array<job*, most>& into) {
    std::lock_guard lock(lock_);
    const std::size_t n = std::min((size() + 1) / 2, most);
    for (std::size_t i = 0; i < n; ++i) into[i] = take_first();
    return n;
  }

  /// Number of jobs, read without the lock.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  /// Whether it is empty, ordered with the pushes of other threads.
  bool empty() {
    std::lock_guard lock(lock_);
    return size() == 0;
  }

 private:
  void resize(std::size_t n) { size_.store(n, std::memory_order_relaxed); }
  job* take_first() {
    job* j = ring_[first_];
    first_ = (first_ + 1) & mask_;
    resize(size() - 1);
    return j;
  }
  void make_room() {
    if (size() > mask_) [[unlikely]]
      grow();
  }
  [[gnu::noinline]] void grow() {
    std::rotate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(first_), ring_.end());
    first_ = 0;
    ring_.resize(2 * ring_.size());
    mask_ = ring_.size() - 1;
  }

  spin_lock lock_;
  std::vector<job*> ring_ = std::vector<job*>(64);  // its length is a power of two
  std::size_t first_ = 0, mask_ = 63;
  std::atomic<std::size_t> size_{0};
};

}  // namespace plaq::task::detail
