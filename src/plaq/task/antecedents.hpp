// Antecedents of a task: futures, shared futures and vectors of them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/task/future.hpp"

namespace plaq::task {

template <class F>
concept any_future =
    std::same_as<F, future<typename F::value_type>> || std::same_as<F, shared_future<typename F::value_type>>;

namespace detail {

template <any_future F>
std::size_t count_of(const F&) {
  return 1;
}
template <any_future F>
std::size_t count_of(const std::vector<F>& many) {
  return many.size();
}
template <any_future F>
state_base& nth_of(const F& one, std::size_t) {
  return state_of(one);
}
template <any_future F>
state_base& nth_of(const std::vector<F>& many, std::size_t n) {
  return state_of(many[n]);
}

/// Returns the n-th state in a tuple of futures and vectors of futures; nullptr after the last.
template <class... Members>
state_base* nth_of_all(const std::tuple<Members...>& all, std::size_t n) {
  state_base* found = nullptr;
  const auto visit = [&](const auto& member) {
    const std::size_t count = count_of(member);
    if (n < count) return found = &nth_of(member, n), true;
    return n -= count, false;
  };
  std::apply([&](const auto&... member) { (void)(visit(member) || ...); }, all);
  return found;
}

/// Throws future_error if one has no state.
template <class... Members>
void need_valid(const Members&... members) {
  for (std::size_t n = 0; nth_of_all(std::tie(members...), n);) ++n;
}

/// Waits for all, one after the other, so that one continuation suffices for any number of them.
template <class... Members>
class antecedents : protected continuation {
 public:
  antecedents(const antecedents&) = delete;

 protected:
  explicit antecedents(Members... members)
      : continuation{[](continuation& c) noexcept { return static_cast<antecedents&>(c).advance(); }},
        members_(std::move(members)...) {}
  ~antecedents() = default;

  /// Returns the result of on_ready() once all are ready, else nullptr.
  state_base* advance() noexcept {
    while (state_base* next = nth_of_all(members_, position_++))
      if (next->attach(*this)) return nullptr;
    return on_ready();
  }
  /// Called once all are ready; returns a share of a state to be completed, or nullptr.
  virtual state_base* on_ready() noexcept = 0;

  std::tuple<Members...> members_;

 private:
  std::size_t position_ = 0;
};

}  // namespace detail
}  // namespace plaq::task
