// Jobs of a pool that are in no worker's queue: from outside of it, with a priority, or bound to a domain of memory.
#pragma once
#include <atomic>
#include <cstddef>
#include <vector>

#include "plaq/task/job_queue.hpp"

namespace plaq::task::detail {

/// Queues by priority, for all workers and for those of each domain. A worker takes those of its domain first, in the
/// order of their arrival.
class shared_queues {
 public:
  explicit shared_queues(int domains) : bound_(domains == 1 ? 0 : static_cast<std::size_t>(domains)) {}

  void push(job& next) {
    // Announced before it is in its queue: who sees it may find nothing, but nobody misses it.
    if (next.how.priority == priority::high) urgent_.fetch_add(1, std::memory_order_relaxed);
    queues_of(next).of(next.how.priority).push_new(next);
  }
  /// Pushes a job behind those that are ready.
  void push_last(job& yielded) {
    queues& these = queues_of(yielded);
    (yielded.how.priority == priority::low ? these.low : these.normal).push_new(yielded);
  }

  /// Takes the oldest job that a worker of the domain may run; nullptr if there is none.
  job* take(priority p, int domain) {
    if (p == priority::high && !urgent()) return nullptr;
    job* found = nullptr;
    if (queues* own = bound(domain)) found = take(own->of(p));
    if (!found) found = take(everywhere_.of(p));
    if (found && p == priority::high) urgent_.fetch_sub(1, std::memory_order_relaxed);
    return found;
  }

  /// Whether a job of high priority waits, of any domain.
  bool urgent() const { return urgent_.load(std::memory_order_relaxed) != 0; }
  /// Whether a job waits for a worker of this domain.
  bool waiting(int domain) const {
    const queues* own = bound(domain);
    return everywhere_.size() || (own && own->size());
  }
  bool low_waiting(int domain) const {
    const queues* own = bound(domain);
    return everywhere_.low.size() || (own && own->low.size());
  }
  bool waiting_for_any() const { return everywhere_.size(); }
  /// Whether none waits for a worker of any domain; for one of this domain. Ordered with the pushes of other threads.
  bool empty() { return everywhere_.empty(); }
  bool empty_of(int domain) {
    queues* own = bound(domain);
    return !own || own->empty();
  }
  std::size_t size() const {
    std::size_t all = everywhere_.size();
    for (const queues& of : bound_) all += of.size();
    return all;
  }

 private:
  struct queues {
    job_queue normal, high, low;
    job_queue& of(priority p) { return p == priority::high ? high : p == priority::low ? low : normal; }
    std::size_t size() const { return normal.size() + high.size() + low.size(); }
    bool empty() { return normal.empty() && high.empty() && low.empty(); }
  };

  static job* take(job_queue& from) { return from.size() ? from.pop_old() : nullptr; }
  queues& queues_of(const job& next) {
    return next.how.domain == attributes::any ? everywhere_ : bound_[static_cast<std::size_t>(next.how.domain)];
  }
  queues* bound(int domain) { return bound_.empty() ? nullptr : &bound_[static_cast<std::size_t>(domain)]; }
  const queues* bound(int domain) const { return bound_.empty() ? nullptr : &bound_[static_cast<std::size_t>(domain)]; }

  queues everywhere_;
  std::vector<queues> bound_;  // by domain; empty where there is one
  std::atomic<int> urgent_{0};
};

}  // namespace plaq::task::detail
