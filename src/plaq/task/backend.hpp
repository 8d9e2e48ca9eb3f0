// Concept of a thread back end.
#pragma once
#include <chrono>
#include <concepts>
#include <mutex>
#include <stop_token>
#include <string_view>

#include "plaq/task/options.hpp"

namespace plaq::task {

/// Type with the standard library's names. Solvers are templates over it (or over its pool, which names it as
/// Pool::backend), and the back end is chosen at run time by with_backend().
template <class B>
concept Backend = requires(typename B::pool& pool, std::unique_lock<typename B::mutex>& lock,
                           typename B::condition_variable& cv, typename B::template promise<int>& promise,
                           typename B::template future<int>& future, std::stop_token stop) {
  requires std::same_as<typename B::pool::backend, B>;
  requires std::constructible_from<typename B::pool, options>;
  { B::name() } -> std::convertible_to<std::string_view>;
  B::yield();
  B::sleep_for(std::chrono::milliseconds(1));
  {
    pool.async("name", [] { return 1; })
  } -> std::same_as<typename B::template future<int>>;
  { pool.workers() } -> std::same_as<int>;
  {
    pool.async("name", stop, [] { return 1; })
  } -> std::same_as<typename B::template future<int>>;
  cv.wait(lock, [] { return true; });
  {
    cv.wait(lock, stop, [] { return true; })
  } -> std::same_as<bool>;
  cv.notify_one();
  cv.notify_all();
  promise.set_value(1);
  { promise.get_future() } -> std::same_as<typename B::template future<int>>;
  { future.get() } -> std::same_as<int>;
  future.wait();
  { future.wait(stop) } -> std::same_as<bool>;
  {
    future.then(pool, "name", [](auto ready) { return ready.get(); })
  } -> std::same_as<typename B::template future<int>>;
  { future.share() } -> std::same_as<typename B::template shared_future<int>>;
};

}  // namespace plaq::task
