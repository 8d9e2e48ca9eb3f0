// Back end "fiber": every task has a stack of its own for as long as it runs or waits; workers switch between
// them.
#pragma once
#include <memory>

#include "plaq/task/backend.hpp"
#include "plaq/task/pool.hpp"
#include "plaq/task/words.hpp"

namespace plaq::task {

struct fiber : detail::own_words {
  class pool;
  static constexpr std::string_view name() noexcept { return "fiber"; }
};

/// workers() kernel threads, each with a queue; who has nothing to do steals. A task may wake up on another
/// worker: keep no thread-local variable (nor the address of errno) over a wait, and mind the size of the stack (a
/// guard below it ends the process, with a line that says so, before other memory is harmed). The destructor waits
/// for all tasks.
class fiber::pool : public detail::pool_base {
 public:
  using backend = fiber;
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

static_assert(Backend<fiber>);

}  // namespace plaq::task
