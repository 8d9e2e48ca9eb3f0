// Boost.Fiber as it comes: pooled stacks on one worker, its work stealing and plain stacks on several.
#include <boost/fiber/all.hpp>
#include <thread>

#include "micro.hpp"

namespace {

namespace bf = boost::fibers;

struct engine {
  using mutex = bf::mutex;
  using condition_variable = bf::condition_variable;
  int count;
  bf::pooled_fixedsize_stack pool{};  // not to be shared between threads
  int workers() const { return count; }
  template <class F>
  auto async(F&& f) {
    if (count == 1) return bf::async(bf::launch::post, std::allocator_arg, pool, std::forward<F>(f));
    return bf::async(bf::launch::post, std::forward<F>(f));
  }
  static void yield() { boost::this_fiber::yield(); }
  template <class F>
  void parallel_for(int n, F&& f) {
    std::vector<bf::future<void>> running;
    for (int i = 0; i < n; ++i) running.push_back(async([&f, i] { f(i); }));
    for (auto& r : running) r.get();
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments given(argc, argv);
  const auto count = static_cast<std::uint32_t>(given.workers);
  engine e{given.workers};
  if (count == 1) {
    bf::async([&] { bench::run(e, given.what, given.argument, given.scale); }).get();
    return 0;
  }
  bf::mutex mutex;
  bf::condition_variable_any ended;
  bool done = false;
  std::vector<std::thread> others;
  for (std::uint32_t w = 1; w < count; ++w)
    others.emplace_back([&] {
      bf::use_scheduling_algorithm<bf::algo::work_stealing>(count);
      std::unique_lock lock(mutex);
      ended.wait(lock, [&] { return done; });
    });
  bf::use_scheduling_algorithm<bf::algo::work_stealing>(count);
  bf::async([&] { bench::run(e, given.what, given.argument, given.scale); }).get();
  {
    std::lock_guard lock(mutex);
    done = true;
  }
  ended.notify_all();
  for (auto& t : others) t.join();
}
