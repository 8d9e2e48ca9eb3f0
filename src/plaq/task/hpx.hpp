// Back end "hpx": every task is an HPX thread. Where this build has it (option PLAQ_WITH_HPX).
#pragma once
#include <memory>

#include "plaq/task/backend.hpp"
#include "plaq/task/pool.hpp"
#include "plaq/task/words.hpp"

namespace plaq::task {

struct hpx : detail::own_words {
  class pool;
  static constexpr std::string_view name() noexcept { return "hpx"; }
};

/// HPX has one runtime per process. It starts with the first pool and stops with the last, so pools that exist at
/// the same time must have the same options: otherwise the constructor throws input_error. HPX's scheduler decides
/// about the order of tasks. The destructor waits for all tasks.
class hpx::pool : public detail::pool_base {
 public:
  using backend = hpx;
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

static_assert(Backend<hpx>);

}  // namespace plaq::task
