// A program to trace: batches of small tasks that nest, yield, wait and have regions. Prints what it made.
//   trace_workload FOLDER BACKEND WORKERS BATCHES TASKS_PER_BATCH RING_BYTES PERIOD_MS
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "plaq/task/task.hpp"
#include "plaq/trace/counters.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"

namespace {

using namespace plaq;

struct made {
  std::atomic<long> tasks{0}, regions{0}, yields{0};
};

template <class Pool>
void batch(Pool& pool, long number, long size, made& count) {
  trace::region all("batch");
  count.regions += 1;
  std::vector<typename Pool::backend::template future<long>> parts;
  parts.reserve(static_cast<std::size_t>(size));
  for (long i = 0; i < size; ++i)
    parts.push_back(pool.async("leaf", [&count, number, i] {
      if (i % 8 == 0) {
        trace::region outer("outer");
        {
          trace::region inner("inner");
          if (i % 32 == 0) task::this_task::yield();
        }
        trace::region other("other");
        count.regions += 3;
        count.yields += i % 32 == 0;
      }
      return number + i;
    }));
  long sum = 0;
  for (auto& part : parts) sum += part.get();
  count.tasks += size + 1;
  check(sum == size * number + size * (size - 1) / 2, "a leaf returned something else");
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 8) return 2;
  std::signal(SIGXFSZ, SIG_IGN);
  trace::session_options options;
  options.folder = arguments[1];
  options.ring_bytes = std::strtoul(arguments[6], nullptr, 10);
  options.period = std::chrono::milliseconds(std::strtol(arguments[7], nullptr, 10));
  made total;
  trace::counter done("batches done", "1");
  trace::session session(options);
  task::options pool_options;
  pool_options.workers = std::atoi(arguments[3]);
  task::with_backend(arguments[2], pool_options, [&](auto& pool) {
    trace::region main("main");
    total.regions += 1;
    const long batches = std::strtol(arguments[4], nullptr, 10), size = std::strtol(arguments[5], nullptr, 10);
    for (long b = 0; b < batches; b += 2) {
      auto one = pool.async("batch", [&, b] { batch(pool, b, size, total); });
      auto two = pool.async("batch", [&, b] { batch(pool, b + 1, size, total); });
      one.get(), two.get();
      done.add(2);
    }
  });
  session.close();
  std::printf("{\"tasks\": %ld, \"regions\": %ld, \"yields\": %ld, \"problem\": \"%s\"}\n", total.tasks.load(),
              total.regions.load(), total.yields.load(), session.problem().c_str());
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
