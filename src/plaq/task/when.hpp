// when_all and when_any as in the Concurrency TS: a future for several, without a task.
#pragma once
#include <atomic>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "plaq/task/antecedents.hpp"

namespace plaq::task {

/// What when_any gives: all futures back, futures[index] or get<index>(futures) is ready.
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
  state_base* all_there() noexcept override {
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

/// Owned by its future, by start(), and by every arm until it was called or detached.
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
      hear(attached_);
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
            state_base* const done = self->hear(static_cast<arm&>(c).index);
            self->release();
            return done;
          }} {}
    any_of* self = nullptr;
    std::size_t index = 0;
  };

  state_base* hear(std::size_t index) noexcept {
    std::size_t expected = nobody;
    return winner_.compare_exchange_strong(expected, index) ? step() : nullptr;
  }

  /// Once all arms are attached and one was called, in either order: returns a share to be completed.
  state_base* step() noexcept {
    if (steps_.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
    for (std::size_t n = 0; n < attached_; ++n)
      if (nth_of_all(members_, n)->detach(arms_[n])) this->release();
    this->store(
        [&] { return when_any_result<Sequence>{winner_.load(), std::make_from_tuple<Sequence>(std::move(members_))}; });
    this->retain();
    return this;
  }

  static constexpr auto nobody = static_cast<std::size_t>(-1);
  std::atomic<std::size_t> winner_{nobody};
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

}  // namespace detail

/// Ready once all results are there; gives the futures back, each with its value or its error.
template <any_future... Futures>
future<std::tuple<Futures...>> when_all(Futures... results) {
  return detail::wait_for_all<std::tuple<Futures...>>(std::move(results)...);
}
template <any_future Future>
future<std::vector<Future>> when_all(std::vector<Future> results) {
  return detail::wait_for_all<std::vector<Future>>(std::move(results));
}

/// Ready once one of the results is there. Of no futures at all: ready, with index -1.
template <any_future... Futures>
future<when_any_result<std::tuple<Futures...>>> when_any(Futures... results) {
  return detail::wait_for_any<std::tuple<Futures...>>(std::move(results)...);
}
template <any_future Future>
future<when_any_result<std::vector<Future>>> when_any(std::vector<Future> results) {
  return detail::wait_for_any<std::vector<Future>>(std::move(results));
}

}  // namespace plaq::task
