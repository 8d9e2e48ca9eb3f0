// Pool of a back end: hands every call to the back end's scheduler.
#pragma once
#include <memory>

#include "plaq/task/pool.hpp"

namespace plaq::task::detail {

/// Pool of the back end B, whose nested class `scheduler` does the work. The destructor waits for all tasks.
/// backend_pool_members.hpp defines the members; the source of a back end instantiates them.
template <class B>
class backend_pool : public pool_base {
 public:
  using backend = B;
  explicit backend_pool(const options& given = {}) : backend_pool(given.stack_size, place_workers(given)) {}
  /// Makes a pool with this placement, which the process may have.
  backend_pool(std::size_t stack_size, placement where);
  ~backend_pool() override;

 private:
  void submit(job& fresh) noexcept override;
  void announce() noexcept override;
  void suspend(job& self, std::atomic<wait_state>& state) noexcept override;
  void resume(job& asleep) noexcept override;
  void yield(job& self) noexcept override;
  int worker_here() const noexcept override;

  std::unique_ptr<typename B::scheduler> work_;
};

}  // namespace plaq::task::detail
