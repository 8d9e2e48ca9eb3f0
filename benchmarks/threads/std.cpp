// std::async: a kernel thread per task.
#include <future>
#include <thread>

#include "micro.hpp"

namespace {

struct engine {
  using mutex = std::mutex;
  using condition_variable = std::condition_variable;
  int count;
  int workers() const { return count; }
  template <class F>
  auto async(F&& f) {
    return std::async(std::launch::async, std::forward<F>(f));
  }
  static void yield() { std::this_thread::yield(); }
  template <class F>
  void parallel_for(int n, F&& f) {
    std::vector<std::future<void>> running;
    for (int i = 0; i < n; ++i) running.push_back(async([&f, i] { f(i); }));
    for (auto& r : running) r.get();
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments given(argc, argv);
  engine e{given.workers};
  bench::run(e, given.what, given.argument, given.scale);
}
