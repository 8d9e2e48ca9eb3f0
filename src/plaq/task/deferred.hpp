// Task that starts once its inputs are ready: made by `then` and `dataflow`.
#pragma once
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/task/antecedents.hpp"
#include "plaq/task/job.hpp"
#include "plaq/task/lazy.hpp"
#include "plaq/task/name.hpp"

namespace plaq::task::detail {

template <class T>
struct unwrap {
  using type = T;
};
template <class T>
struct unwrap<future<T>> {
  using type = T;
};

/// Job, result and antecedents in one piece of memory, owned by the pool (until it ran) and by the future.
template <class F, class... Members>
class deferred final : public job,
                       public state<typename unwrap<std::invoke_result_t<F, Members...>>::type>,
                       private antecedents<Members...> {
  using returned = std::invoke_result_t<F, Members...>;
  using result = typename unwrap<returned>::type;
  static_assert(!is_lazy<returned>, "a continuation returns a value or a future: pool.async(...) of the coroutine");
  static constexpr bool returns_future = !std::is_same_v<returned, result>;

 public:
  using future_type = future<result>;

  template <class G>
  deferred(scheduler& home, task_name name, G&& work, Members... members)
      : job(home, name.view(), name.attributes()),
        antecedents<Members...>(std::move(members)...),
        work_(std::forward<G>(work)) {
    this->producer = id;
    this->retain();
  }

  void start() noexcept {
    home.announce();
    this->advance();
  }

  void run() noexcept override {
    for (std::size_t n = 0; const state_base* used = nth_of_all(this->members_, n); ++n) record_use(used->producer);
    const auto work = [&]() -> returned { return std::apply(std::move(*work_), std::move(this->members_)); };
    if constexpr (returns_future) try {
        inner_ = work();
        if (!inner_.valid()) throw std::future_error(std::future_errc::broken_promise);
      } catch (...) {
        this->error = std::current_exception();
      }
    else
      this->store(work);
    finish();
  }

  void fail(std::exception_ptr error) noexcept override {
    this->error = std::move(error);
    finish();
  }

 private:
  state_base* on_ready() noexcept override {
    home.resume(*this);
    return nullptr;
  }

  void finish() noexcept {
    work_.reset();  // its captures and inputs are destroyed before the result is visible
    this->members_ = {};
    trace::finished(id);
    if constexpr (returns_future)
      if (!this->error) {
        this->call = [](continuation& c) noexcept { return static_cast<deferred&>(c).take_over(); };
        if (state_of(inner_).attach(*this)) return;
        take_over();
      }
    this->complete();
    this->release();
  }

  /// Takes over the result of the future that the task returned, which is ready.
  state_base* take_over() noexcept {
    if constexpr (returns_future) {
      this->producer = state_of(inner_).producer;
      this->store([&] { return state_of(inner_).take(); });
      inner_ = {};  // at once: a chain of them, each kept by the next, would end in as deep a recursion
    }
    return this;
  }

  std::optional<F> work_;
  std::conditional_t<returns_future, returned, unit> inner_;
};

template <class F, class... Members>
auto defer(scheduler& pool, task_name name, F&& work, Members... members) {
  need_valid(members...);
  using task = deferred<std::decay_t<F>, Members...>;
  auto* fresh = new task(pool, name, std::forward<F>(work), std::move(members)...);
  typename task::future_type result(fresh);
  fresh->start();
  return result;
}

}  // namespace plaq::task::detail
