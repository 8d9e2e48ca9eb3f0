// One of plaq's back ends: the file is compiled once for each.
#include "micro.hpp"
#include "plaq/task/backends.hpp"
#include "plaq/task/parallel_for.hpp"

namespace {

template <class Pool>
struct engine {
  using B = typename Pool::backend;
  using mutex = typename B::mutex;
  using condition_variable = typename B::condition_variable;
  Pool& pool;
  int workers() const { return pool.workers(); }
  template <class F>
  auto async(F&& f) {
    return pool.async("task", std::forward<F>(f));
  }
  static void yield() { B::yield(); }
  template <class F>
  void parallel_for(int n, F&& f) {
    plaq::task::parallel_for(pool, "piece", 0, n, f, {.sharing = plaq::task::sharing::dynamic, .chunk = 1});
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments given(argc, argv);
  plaq::task::with_backend(PLAQ_BENCH_BACKEND, {.workers = given.workers}, [&](auto& pool) {
    engine<std::remove_reference_t<decltype(pool)>> e{pool};
    pool.async("root", [&] { bench::run(e, given.what, given.argument, given.scale); }).get();
  });
}
