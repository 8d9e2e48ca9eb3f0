// Parallel loop as tasks.
#pragma once
#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <mutex>
#include <type_traits>
#include <vector>

#include "plaq/task/cancelled.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/name.hpp"
#include "plaq/task/sharing.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::task {

/// Pool of a back end.
template <class P>
concept task_pool = std::derived_from<P, detail::scheduler>;

/// Callable with an index that returns nothing, since the result would be lost.
template <class Body, class Index>
concept loop_body = std::invocable<Body&, Index&> && std::is_void_v<std::invoke_result_t<Body&, Index&>>;

namespace detail {

/// Returns end - begin, for any two integers; 0 if end comes before begin.
template <std::integral Index>
std::size_t length(Index begin, Index end) {
  using bits = std::make_unsigned_t<Index>;
  return end <= begin ? 0 : static_cast<bits>(static_cast<bits>(end) - static_cast<bits>(begin));
}
template <std::integral Index>
Index advanced(Index begin, std::size_t by) {
  using bits = std::make_unsigned_t<Index>;
  return static_cast<Index>(static_cast<bits>(static_cast<bits>(begin) + static_cast<bits>(by)));
}

/// Error of the lowest index.
class first_error {
 public:
  void report(std::size_t index, std::exception_ptr error) noexcept {
    std::lock_guard guard(lock_);
    if (index >= index_.load(std::memory_order_relaxed)) return;
    index_.store(index, std::memory_order_relaxed);
    error_ = std::move(error);
  }
  bool comes_before(std::size_t index) const noexcept { return index_.load(std::memory_order_relaxed) < index; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  spin_lock lock_;
  std::atomic<std::size_t> index_{static_cast<std::size_t>(-1)};
  std::exception_ptr error_;
};

/// State shared by the tasks of one loop.
template <class Index, class Body>
class loop {
 public:
  loop(const scheduler& pool, Index begin, std::size_t n, std::size_t workers, const loop_options& how, Body& body)
      : pool_(pool), begin_(begin), pieces_(n, workers, how), taken_(pieces_.members()), stop_(how.stop), body_(body) {}

  std::size_t members() const { return pieces_.members(); }

  /// Works as a member, of that domain of memory.
  void work(std::int16_t domain = attributes::any) noexcept {
    const std::size_t member = claim_member(domain);
    for (loop_splitter::piece p; pieces_.next(member, p) && !error_.comes_before(p.from);) {
      if (stop_.stop_requested()) {
        stopped_.store(true, std::memory_order_relaxed);
        return;
      }
      Index i = advanced(begin_, p.from);
      const Index last = advanced(begin_, p.to);
      try {
        for (; i != last; ++i) body_(i);
      } catch (...) {
        error_.report(length(begin_, i), std::current_exception());
      }
    }
  }

  void rethrow() const {
    error_.rethrow();
    if (stopped_.load(std::memory_order_relaxed)) throw cancelled();
  }

 private:
  /// Returns the member with the number of this worker, or the next free one of the domain. So with static sharing, a
  /// loop over the same indices as the previous one finds that one's data in each worker's caches.
  std::size_t claim_member(std::int16_t domain) noexcept {
    auto member = static_cast<std::size_t>(pool_.worker_here()) % taken_.size();
    const auto fits = [&](std::size_t m) {
      return domain == attributes::any || pool_.domain_of(static_cast<int>(m)) == domain;
    };
    while (!fits(member) || taken_[member].exchange(true, std::memory_order_relaxed))
      member = (member + 1) % taken_.size();
    return member;
  }

  const scheduler& pool_;
  const Index begin_;
  loop_splitter pieces_;
  std::vector<std::atomic<bool>> taken_;
  const std::stop_token& stop_;
  Body& body_;
  first_error error_;
  std::atomic<bool> stopped_{false};
};

/// Tasks that are waited for in any case.
template <class Pool>
struct team {
  std::vector<typename Pool::backend::template future<void>> members;
  ~team() {
    for (auto& m : members)
      if (m.valid()) m.wait();
  }
};

/// Runs a loop whose arguments fit, as parallel_for.
template <class Pool, class Index, class Body>
void run_loop(Pool& pool, task_name name, Index begin, Index end, Body& body, const loop_options& how) {
  const std::size_t n = length(begin, end);
  if (n == 0) return;
  const job* const caller = current();
  if (!caller || &caller->home != &pool)
    return pool.async(name, [&] { run_loop(pool, name, begin, end, body, how); }).get();

  loop work(pool, begin, n, static_cast<std::size_t>(pool.workers()), how, body);
  const bool by_domain = how.sharing == sharing::static_ && pool.domains() > 1;
  {
    team<Pool> others;
    others.members.reserve(work.members());
    if (by_domain) {
      for (std::size_t m = 0; m < work.members(); ++m) {
        const auto domain = static_cast<std::int16_t>(pool.domain_of(static_cast<int>(m)));
        others.members.push_back(
            pool.async({name, on_domain(domain), name.attributes().priority}, [&work, domain] { work.work(domain); }));
      }
    } else {
      for (std::size_t m = 1; m < work.members(); ++m)
        others.members.push_back(pool.async(name, [&work] { work.work(); }));
      const trace::region own_part(name);
      work.work();
    }
    for (auto& m : others.members) m.get();
  }
  work.rethrow();
}

/// Says which argument of a loop does not fit; returns whether all do.
template <class Pool, class Index, bool fits>
constexpr bool fits_loop() {
  constexpr bool pooled = task_pool<Pool>, counts = std::integral<Index>;
  static_assert(pooled, "no task_pool: the first argument is the pool that runs the loop");
  static_assert(!pooled || counts, "a loop counts from begin to end, two integers (std::integral) of one type");
  static_assert(!pooled || !counts || fits, "no loop_body: the body is called as body(i), and returns nothing");
  return pooled && counts && fits;
}

}  // namespace detail

/// Calls body(i) once for every i in [begin, end), in at most pool.workers() tasks, and returns when all are done. The
/// calling task is one of them (its part is a region called `name`, as the other tasks are); a thread outside of the
/// pool waits meanwhile.
///
/// With static sharing on several domains of memory, each part is a task on the domain of the worker of its number, and
/// the caller waits: a later loop over the same indices finds its data in the memory of its domain.
///
/// If bodies throw, the exception of the lowest index that throws is rethrown; bodies above it may not have been run.
/// Throws cancelled if the token was stopped before every piece was handed out.
template <class Pool, class Index, class Body>
void parallel_for(Pool& pool, task_name name, Index begin, Index end, Body&& body, const loop_options& how = {}) {
  if constexpr (detail::fits_loop<Pool, Index, loop_body<Body, Index>>())
    detail::run_loop(pool, name, begin, end, body, how);
}

}  // namespace plaq::task
