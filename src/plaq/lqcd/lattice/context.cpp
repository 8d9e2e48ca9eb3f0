#include "plaq/lqcd/lattice/context.hpp"

#include <algorithm>

#include "plaq/task/backends.hpp"
#include "plaq/task/parallel_for.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::lqcd {

namespace {

/// Number of parts of a loop for each worker. Messages in progress are polled between two parts.
constexpr std::size_t parts_per_worker = 4;

void poll_messages() {
  if (task::detail::anything_expected()) task::detail::poll_once();
}

class calling_thread final : public workers {
 public:
  void parallel_for(task::task_name name, std::size_t n, const range_function& work) override {
    const trace::region region(name);
    // No other thread polls messages meanwhile.
    const std::size_t parts = std::min<std::size_t>(n, task::detail::anything_expected() ? 4 * parts_per_worker : 1);
    for (std::size_t p = 0; p < parts; ++p) {
      work(n * p / parts, n * (p + 1) / parts);
      poll_messages();
    }
  }
  void run(task::task_name name, const std::function<void()>& work) override {
    const trace::region region(name);
    work();
  }
  int count() const override { return 1; }
};

template <class Pool>
class pooled_workers final : public workers {
 public:
  explicit pooled_workers(const task::options& options) : pool_(options) {}
  void parallel_for(task::task_name name, std::size_t n, const range_function& work) override {
    const std::size_t parts = std::min<std::size_t>(n, parts_per_worker * std::size_t(pool_.workers()));
    const auto run_part = [&](std::size_t p) {
      work(n * p / parts, n * (p + 1) / parts);
      poll_messages();
    };
    // Each worker has the same sites in every call, so their fields stay in its cache.
    task::parallel_for(pool_, name, std::size_t(0), parts, run_part, {.sharing = task::sharing::static_});
  }
  void run(task::task_name name, const std::function<void()>& work) override { pool_.async(name, work).get(); }
  int count() const override { return pool_.workers(); }

 private:
  Pool pool_;
};

}  // namespace

std::unique_ptr<workers> make_workers(std::string_view backend, const task::options& options) {
  const bool single =
      options.workers == 1 && options.bind != task::binding::cores && options.bind != task::binding::threads;
  return task::of_backend(backend, [&]<class Backend>() -> std::unique_ptr<workers> {
    if (single) return std::make_unique<calling_thread>();
    return std::make_unique<pooled_workers<typename Backend::pool>>(options);
  });
}

}  // namespace plaq::lqcd
