#include "plaq/lqcd/engine.hpp"

#include <algorithm>

#include "plaq/task/backends.hpp"
#include "plaq/task/parallel_for.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::lqcd {

namespace {

class caller final : public workers {
 public:
  void each(task::task_name name, std::size_t n, const part& work) override {
    const trace::region here(name);
    if (n) work(0, n);
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
    // A few parts for each worker: who is held up leaves some of its own to others.
    const std::size_t parts = std::min<std::size_t>(n, 4 * std::size_t(pool_.workers()));
    task::parallel_for(pool_, name, std::size_t(0), parts,
                       [&](std::size_t p) { work(n * p / parts, n * (p + 1) / parts); });
  }
  void inside(task::task_name name, const std::function<void()>& work) override { pool_.async(name, work).get(); }
  int count() const override { return pool_.workers(); }

 private:
  Pool pool_;
};

template <class Backend>
std::unique_ptr<workers> of_backend(const task::options& how) {
  return std::make_unique<pool<typename Backend::pool>>(how);
}

template <class First, class... Rest>
std::unique_ptr<workers> find(std::string_view name, const task::options& how, std::tuple<First, Rest...>*) {
  if (name == First::name()) return of_backend<First>(how);
  if constexpr (sizeof...(Rest) > 0)
    return find(name, how, static_cast<std::tuple<Rest...>*>(nullptr));
  else
    task::detail::unknown_backend(name);
}

}  // namespace

std::unique_ptr<workers> make_workers(std::string_view backend, const task::options& how) {
  if (how.workers == 1 && how.bind != task::binding::cores && how.bind != task::binding::threads)
    return std::make_unique<caller>();
  return find(backend, how, static_cast<task::known_backends*>(nullptr));
}

}  // namespace plaq::lqcd
