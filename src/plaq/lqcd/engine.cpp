#include "plaq/lqcd/engine.hpp"

#include <algorithm>

#include "plaq/task/backends.hpp"
#include "plaq/task/parallel_for.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::lqcd {

namespace {

/// Parts of the work for each worker: between two of them messages that are under way move on.
constexpr std::size_t parts_each = 4;

void look_at_messages() {
  if (task::detail::anything_expected()) task::detail::poll_once();
}

class caller final : public workers {
 public:
  void each(task::task_name name, std::size_t n, const part& work) override {
    const trace::region here(name);
    // Nobody else looks at messages meanwhile.
    const std::size_t parts = std::min<std::size_t>(n, task::detail::anything_expected() ? 4 * parts_each : 1);
    for (std::size_t p = 0; p < parts; ++p) {
      work(n * p / parts, n * (p + 1) / parts);
      look_at_messages();
    }
  }
  void inside(task::task_name name, const std::function<void()>& work) override {
    const trace::region here(name);
    work();
  }
  int count() const override { return 1; }
};

template <class Pool>
class pool final : public workers {
 public:
  explicit pool(const task::options& how) : pool_(how) {}
  void each(task::task_name name, std::size_t n, const part& work) override {
    const std::size_t parts = std::min<std::size_t>(n, parts_each * std::size_t(pool_.workers()));
    const auto one = [&](std::size_t p) {
      work(n * p / parts, n * (p + 1) / parts);
      look_at_messages();
    };
    // Each worker has the same sites in every call: what others wrote would have to come from their caches.
    task::parallel_for(pool_, name, std::size_t(0), parts, one, {.sharing = task::sharing::static_});
  }
  void inside(task::task_name name, const std::function<void()>& work) override { pool_.async(name, work).get(); }
  int count() const override { return pool_.workers(); }

 private:
  Pool pool_;
};

}  // namespace

std::unique_ptr<workers> make_workers(std::string_view backend, const task::options& how) {
  const bool alone = how.workers == 1 && how.bind != task::binding::cores && how.bind != task::binding::threads;
  return task::of_backend(backend, [&]<class Backend>() -> std::unique_ptr<workers> {
    if (alone) return std::make_unique<caller>();
    return std::make_unique<pool<typename Backend::pool>>(how);
  });
}

}  // namespace plaq::lqcd
