// Members of backend_pool, for the source of a back end, which knows its scheduler.
#pragma once
#include <utility>

#include "plaq/task/backend_pool.hpp"

namespace plaq::task::detail {

template <class B>
backend_pool<B>::backend_pool(std::size_t stack_size, placement where)
    : pool_base(std::move(where)),
      work_(std::make_unique<typename B::scheduler>(*this, worker_placement(), stack_size)) {}

template <class B>
backend_pool<B>::~backend_pool() = default;

template <class B>
void backend_pool<B>::submit(job& fresh) noexcept {
  work_->submit(fresh);
}

template <class B>
void backend_pool<B>::announce() noexcept {
  work_->announce();
}

template <class B>
void backend_pool<B>::suspend(job& self, std::atomic<wait_state>& state) noexcept {
  work_->suspend(self, state);
}

template <class B>
void backend_pool<B>::resume(job& asleep) noexcept {
  work_->resume(asleep);
}

template <class B>
void backend_pool<B>::yield(job& self) noexcept {
  work_->yield(self);
}

template <class B>
int backend_pool<B>::worker_here() const noexcept {
  return work_->worker_here();
}

}  // namespace plaq::task::detail
