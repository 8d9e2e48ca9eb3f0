// Back end "os": every task has a kernel thread for as long as it runs or waits.
#pragma once
#include <memory>

#include "plaq/task/backend.hpp"
#include "plaq/task/pool.hpp"
#include "plaq/task/words.hpp"

namespace plaq::task {

struct os : detail::own_words {
  class pool;
  static constexpr std::string_view name() noexcept { return "os"; }
};

/// A task that waits hands its slot to another thread, so at most workers() tasks run at any time but there are as
/// many threads as tasks that started and did not end. The destructor waits for all tasks.
class os::pool : public detail::pool_base {
 public:
  using backend = os;
  explicit pool(const options& given = {});
  ~pool() override;

 private:
  void submit(detail::job& fresh) noexcept override;
  void announce() noexcept override;
  void suspend(detail::job& self, std::atomic<detail::wait_state>& state) noexcept override;
  void resume(detail::job& asleep) noexcept override;
  void yield(detail::job& self) noexcept override;
  int worker_here() const noexcept override;

  class implementation;
  std::unique_ptr<implementation> work_;
};

static_assert(Backend<os>);

}  // namespace plaq::task
