// Base of the pools of all back ends: async.
#pragma once
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "plaq/task/cancelled.hpp"
#include "plaq/task/explained.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/job.hpp"
#include "plaq/task/lazy.hpp"
#include "plaq/task/name.hpp"
#include "plaq/task/options.hpp"
#include "plaq/task/placement.hpp"
#include "plaq/trace/hooks.hpp"

namespace plaq::task::detail {

/// Job and result in one piece of memory, owned by the pool (until it ran) and by the future.
template <class R, class F>
class task final : public job, public state<R> {
 public:
  template <class G>
  task(scheduler& home, task_name name, G&& work)
      : job(home, name.view(), name.attributes()), state<R>(owners), work_(std::forward<G>(work)) {
    this->producer = id;
  }

  void run() noexcept override {
    this->store([&]() -> R { return std::invoke(std::move(*work_)); });
    finish();
  }

  void fail(std::exception_ptr error) noexcept override {
    this->error = std::move(error);
    finish();
  }

 private:
  void finish() noexcept {
    work_.reset();  // its captures are destroyed before the result is visible
    trace::finished(id);
    this->complete();
    this->release();
  }

  static constexpr int owners = 2;
  std::optional<F> work_;
};

/// Job of a function F that returns R, and the type of its result.
template <class R, class F>
struct job_of {
  using type = task<R, F>;
  using result = R;
};
template <class T, class F>
struct job_of<lazy<T>, F> {
  using type = coroutine_task<T, F>;
  using result = T;
};

class pool_base : public scheduler, public explained_async {
 public:
  using explained_async::async;
  int workers() const noexcept { return placement_.workers; }

  /// Runs work() as a task. It may start before async returns; children of a task start newest first, other tasks in
  /// their order. Exceptions of work() are thrown by future::get(). The pool must live until the task has ended. If
  /// work() returns a lazy<T>, the task runs that coroutine, and the result is a future<T>.
  ///
  /// @pre the pool has the domain that the name asks for, else input_error
  template <class F, class Job = job_of<std::invoke_result_t<std::decay_t<F>>, std::decay_t<F>>>
  auto async(task_name name, F&& work) -> future<typename Job::result> {
    auto* fresh = new typename Job::type(*this, name, std::forward<F>(work));
    future<typename Job::result> result(fresh);
    submit(*fresh);
    return result;
  }

  /// Runs work() as a task, unless the token was stopped before it started; then get() throws cancelled.
  template <called_with F>
  auto async(task_name name, std::stop_token stop, F&& work) {
    return async(name, [stop = std::move(stop), work = std::forward<F>(work)]() mutable -> decltype(auto) {
      if (stop.stop_requested()) throw cancelled();
      return std::invoke(std::move(work));
    });
  }

 protected:
  explicit pool_base(placement where) : scheduler(where.domains), placement_(std::move(where)) {}
  const placement& worker_placement() const noexcept { return placement_; }

 private:
  placement placement_;
};

}  // namespace plaq::task::detail
