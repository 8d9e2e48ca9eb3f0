// The jobs of one worker that are ready to run.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace plaq::task::detail {

class job;

/// Its owner takes the newest, others steal the oldest.
class job_queue {
 public:
  void push_new(job& j) {
    std::lock_guard lock(mutex_);
    jobs_.push_back(&j);
    count();
  }
  void push_old(job& j) {
    std::lock_guard lock(mutex_);
    jobs_.push_front(&j);
    count();
  }
  job* pop_new() {
    std::lock_guard lock(mutex_);
    if (jobs_.empty()) return nullptr;
    job* j = jobs_.back();
    jobs_.pop_back();
    count();
    return j;
  }
  job* pop_old() {
    std::lock_guard lock(mutex_);
    if (jobs_.empty()) return nullptr;
    job* j = jobs_.front();
    jobs_.pop_front();
    count();
    return j;
  }
  /// Takes half of the jobs, the oldest, at most 32.
  void pop_half(std::vector<job*>& into) {
    std::lock_guard lock(mutex_);
    const std::size_t n = std::min<std::size_t>((jobs_.size() + 1) / 2, 32);
    into.assign(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(n));
    jobs_.erase(jobs_.begin(), jobs_.begin() + static_cast<std::ptrdiff_t>(n));
    count();
  }
  bool empty() {
    std::lock_guard lock(mutex_);
    return jobs_.empty();
  }
  /// A glance without the lock.
  std::size_t about() const { return about_.load(std::memory_order_relaxed); }

 private:
  void count() { about_.store(jobs_.size(), std::memory_order_relaxed); }
  std::mutex mutex_;
  std::deque<job*> jobs_;
  std::atomic<std::size_t> about_{0};
};

}  // namespace plaq::task::detail
