// when_all and when_any as in the Concurrency TS: a future for several, without a task.
#pragma once
#include <atomic>
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/task/antecedents.hpp"
#include "plaq/task/explained.hpp"

namespace plaq::task {

/// Result of when_any: all futures; futures[index] or get<index>(futures) is ready.
template <class Sequence>
struct when_any_result {
  std::size_t index;
  Sequence futures;
};

namespace detail {

inline void complete(state_base* share) noexcept {
  if (!share) return;
  share->complete();
  share->release();
}

template <class Result, class... Members>
class all_of final : public state<Result>, private antecedents<Members...> {
 public:
  explicit all_of(Members... members) : antecedents<Members...>(std::move(members)...) { this->retain(); }
  using antecedents<Members...>::advance;

 private:
  state_base* on_ready() noexcept override {
    this->store([&] { return std::make_from_tuple<Result>(std::move(this->members_)); });
    return this;
  }
};

template <class Result, class... Members>
future<Result> wait_for_all(Members... members) {
  need_valid(members...);
  auto* all = new all_of<Result, Members...>(std::move(members)...);
  future<Result> result(all);
  complete(all->advance());
  return result;
}

/// State of when_any, owned by its future, by start(), and by every arm until it was called or detached.
template <class Sequence, class... Members>
class any_of final : public state<when_any_result<Sequence>> {
 public:
  explicit any_of(Members... members) : arms_((count_of(members) + ... + 0)), members_(std::move(members)...) {
    for (std::size_t n = 0; n < arms_.size(); ++n) {
      arms_[n].self = this;
      arms_[n].index = n;
    }
  }

  void start() noexcept {
    this->retain();
    for (; attached_ < arms_.size(); ++attached_) {
      this->retain();
      if (nth_of_all(members_, attached_)->attach(arms_[attached_])) continue;
      this->release();
      arrive(attached_);
      break;
    }
    if (arms_.empty()) step();
    detail::complete(step());
    this->release();
  }

 private:
  struct arm : continuation {
    arm()
        : continuation{[](continuation& c) noexcept {
            any_of* const self = static_cast<arm&>(c).self;
            state_base* const done = self->arrive(static_cast<arm&>(c).index);
            self->release();
            return done;
          }} {}
    any_of* self = nullptr;
    std::size_t index = 0;
  };

  state_base* arrive(std::size_t index) noexcept {
    std::size_t expected = none;
    return winner_.compare_exchange_strong(expected, index) ? step() : nullptr;
  }

  /// Counts the attachment of all arms and the first call, in either order; after both returns a share to be completed.
  state_base* step() noexcept {
    if (steps_.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
    for (std::size_t n = 0; n < attached_; ++n)
      if (nth_of_all(members_, n)->detach(arms_[n])) this->release();
    this->store(
        [&] { return when_any_result<Sequence>{winner_.load(), std::make_from_tuple<Sequence>(std::move(members_))}; });
    this->retain();
    return this;
  }

  static constexpr auto none = static_cast<std::size_t>(-1);
  std::atomic<std::size_t> winner_{none};
  std::atomic<int> steps_{2};
  std::size_t attached_ = 0;
  std::vector<arm> arms_;
  std::tuple<Members...> members_;
};

template <class Sequence, class... Members>
future<when_any_result<Sequence>> wait_for_any(Members... members) {
  need_valid(members...);
  auto* any = new any_of<Sequence, Members...>(std::move(members)...);
  future<when_any_result<Sequence>> result(any);
  any->start();
  return result;
}

/// Futures of which each is moved, or a copy of a shared one.
template <class... Futures>
concept several =
    ((any_future<std::decay_t<Futures>> && std::constructible_from<std::decay_t<Futures>, Futures>) && ...);
template <class Vector>
inline constexpr bool is_vector = false;
template <any_future F>
inline constexpr bool is_vector<std::vector<F>> = true;
/// Arguments of when_all and when_any.
template <class... Futures>
inline constexpr bool joined = several<Futures...>;
template <class Futures>
inline constexpr bool joined<Futures> = several<Futures> || is_vector<std::decay_t<Futures>>;

template <class... Wrong>
constexpr void explain_join() {
  constexpr bool futures = (any_future<std::decay_t<Wrong>> && ...);
  static_assert(futures, "the arguments are futures and shared futures, or one vector of them");
  static_assert(!futures, "a future is used up: std::move(future)");
}

}  // namespace detail

/// Returns a future that is ready once all results are; it gives the futures, each with its value or its error.
template <class... Futures>
  requires detail::several<Futures...>
future<std::tuple<std::decay_t<Futures>...>> when_all(Futures&&... results) {
  return detail::wait_for_all<std::tuple<std::decay_t<Futures>...>>(
      std::decay_t<Futures>(std::forward<Futures>(results))...);
}
/// Returns the same for a vector of futures, in their order.
template <any_future Future>
future<std::vector<Future>> when_all(std::vector<Future> results) {
  return detail::wait_for_all<std::vector<Future>>(std::move(results));
}

/// Returns a future that is ready once one of the results is. Of no futures at all: ready, with index -1.
template <class... Futures>
  requires detail::several<Futures...>
future<when_any_result<std::tuple<std::decay_t<Futures>...>>> when_any(Futures&&... results) {
  return detail::wait_for_any<std::tuple<std::decay_t<Futures>...>>(
      std::decay_t<Futures>(std::forward<Futures>(results))...);
}
/// Returns the same for a vector of futures.
template <any_future Future>
future<when_any_result<std::vector<Future>>> when_any(std::vector<Future> results) {
  return detail::wait_for_any<std::vector<Future>>(std::move(results));
}

/// Overload of when_all for arguments that do not fit.
template <class... Wrong>
  requires(!detail::joined<Wrong...>)
detail::no_future when_all(Wrong&&...) {
  detail::explain_join<Wrong...>();
  return {};
}
/// Overload of when_any for arguments that do not fit.
template <class... Wrong>
  requires(!detail::joined<Wrong...>)
detail::no_future when_any(Wrong&&...) {
  detail::explain_join<Wrong...>();
  return {};
}

}  // namespace plaq::task
