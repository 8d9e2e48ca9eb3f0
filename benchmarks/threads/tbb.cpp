// oneTBB. Its tasks cannot wait, so it has the cases without waiting only.
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <cstring>

#include "micro.hpp"

namespace {

/// Batches of empty tasks in a group, joined by wait().
void spawn_join(int workers, double scale) {
  const int batch = 1000, rounds = std::max(1, static_cast<int>(200 * scale));
  const auto spawner = [&] {
    tbb::task_group group;
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < batch; ++i) group.run([] {});
      group.wait();
    }
  };
  spawner();
  const auto start = bench::clock::now();
  tbb::task_group spawners;
  for (int w = 1; w < workers; ++w) spawners.run(spawner);
  spawner();
  spawners.wait();
  bench::say("ns", bench::seconds_since(start) * 1e9 / (static_cast<double>(batch) * rounds * workers));
}

void one_by_one(double scale) {
  const int n = std::max(10, static_cast<int>(50000 * scale));
  tbb::task_group group;
  const auto start = bench::clock::now();
  for (int i = 0; i < n; ++i) group.run_and_wait([] {});
  bench::say("ns", bench::seconds_since(start) * 1e9 / n);
}

struct engine {
  int count;
  int workers() const { return count; }
  template <class F>
  void parallel_for(int n, F&& f) {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, n, 1),
        [&](const tbb::blocked_range<int>& r) {
          for (int i = r.begin(); i < r.end(); ++i) f(i);
        },
        tbb::simple_partitioner());
  }
};

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments given(argc, argv);
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(given.workers));
  tbb::task_arena arena(given.workers);
  engine e{given.workers};
  bool known = true;
  arena.execute([&] {
    if (given.what == "spawn_join")
      spawn_join(given.workers, given.scale);
    else if (given.what == "future")
      one_by_one(given.scale);
    else if (given.what == "loop")
      bench::loop(e, given.argument, given.scale);
    else
      known = false;
  });
  return known ? 0 : 2;
}
