// HPX as its users write it.
#include <hpx/algorithm.hpp>
#include <hpx/condition_variable.hpp>
#include <hpx/execution.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/mutex.hpp>
#include <hpx/thread.hpp>

#include "micro.hpp"

namespace {

struct engine {
  using mutex = hpx::mutex;
  using condition_variable = hpx::condition_variable;
  int count;
  int workers() const { return count; }
  template <class F>
  auto async(F&& f) {
    return hpx::async(std::forward<F>(f));
  }
  static void yield() { hpx::this_thread::yield(); }
  template <class F>
  void parallel_for(int n, F&& f) {
    const hpx::execution::experimental::static_chunk_size one(1);
    hpx::experimental::for_loop(hpx::execution::par.with(one), 0, n, f);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments given(argc, argv);
  engine e{given.workers};
  hpx::local::init_params how;
  how.cfg = {"hpx.os_threads=" + std::to_string(given.workers)};
  return hpx::local::init(
      [&] {
        bench::run(e, given.what, given.argument, given.scale);
        return hpx::local::finalize();
      },
      0, nullptr, how);
}
