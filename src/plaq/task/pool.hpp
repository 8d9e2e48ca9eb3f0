// Base of the pools of all back ends: async.
#pragma once
#include <functional>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "plaq/task/cancelled.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/job.hpp"
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
  task(scheduler& home, std::string_view name, G&& work)
      : job(home, name), state<R>(owners), work_(std::forward<G>(work)) {
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

class pool_base : public scheduler {
 public:
  int workers() const noexcept { return placement_.workers; }

  /// Runs work() as a task. It may start before async returns; children of a task start newest first, other tasks in
  /// their order. Exceptions of work() are thrown by future::get(). The pool must live until the task has ended.
  template <class F>
  auto async(task_name name, F&& work) -> future<std::invoke_result_t<std::decay_t<F>>> {
    using R = std::invoke_result_t<std::decay_t<F>>;
    auto* fresh = new task<R, std::decay_t<F>>(*this, name.view(), std::forward<F>(work));
    future<R> result(fresh);
    submit(*fresh);
    return result;
  }

  /// Runs work() as a task, unless the token was stopped before it started; then get() throws cancelled.
  template <class F>
  auto async(task_name name, std::stop_token stop, F&& work) {
    return async(name, [stop = std::move(stop), work = std::forward<F>(work)]() mutable -> decltype(auto) {
      if (stop.stop_requested()) throw cancelled();
      return std::invoke(std::move(work));
    });
  }

 protected:
  explicit pool_base(const options& given) : placement_(place_workers(given)) {}
  const placement& worker_placement() const noexcept { return placement_; }

 private:
  placement placement_;
};

}  // namespace plaq::task::detail
