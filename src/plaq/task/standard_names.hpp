// The standard library's names, for back ends that use plaq's own primitives.
#pragma once
#include "plaq/task/deferred.hpp"
#include "plaq/task/future.hpp"
#include "plaq/task/sync.hpp"
#include "plaq/task/this_task.hpp"

namespace plaq::task::detail {

/// Base of a back end, which adds its name and its pool; see the concept Backend.
struct standard_names {
  using mutex = plaq::task::mutex;
  using condition_variable = plaq::task::condition_variable;
  template <class T>
  using future = plaq::task::future<T>;
  template <class T>
  using shared_future = plaq::task::shared_future<T>;
  template <class T>
  using promise = plaq::task::promise<T>;

  static void yield() noexcept { this_task::yield(); }
  template <class Duration>
  static void sleep_for(Duration time) noexcept {
    this_task::sleep_for(time);
  }
};

}  // namespace plaq::task::detail
