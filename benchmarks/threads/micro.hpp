// The same small workloads for every tasking library. Each gets a binary of its own that measures one case per call,
// so that no library's idle threads disturb another's.
#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace bench {

using clock = std::chrono::steady_clock;
inline double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// Work that takes the same instructions each time: rounds of a chain of multiplications.
inline void work(long rounds) {
  double x = 1.000001;
  for (long i = 0; i < rounds; ++i) asm volatile("" : "+x"(x = x * 1.0000001));
}
inline long rounds_for(double microseconds) {
  static const double per_microsecond = [] {
    double best = 1e300;
    for (int i = 0; i < 20; ++i) {
      const auto start = clock::now();
      work(100000);
      best = std::min(best, seconds_since(start));
    }
    return 0.1 / best;
  }();
  return std::max(1L, static_cast<long>(microseconds * per_microsecond));
}

inline double resident_bytes() {
  long all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}
inline long voluntary_switches() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

/// One figure per line: name, value.
inline void say(const char* name, double value) { std::printf("%s %.6g\n", name, value); }

// An engine E has
//   workers()           tasks that run at the same time
//   async(f)            starts f() as a task and returns something with get()
//   E::yield(), E::mutex, E::condition_variable
//   parallel_for(n, f)  f(i) for i in 0 ... n-1, each i a piece of its own
// and calls the workload from one of its tasks.

/// Empty tasks, joined in batches; with two spawners where there are two workers. ns per task.
template <class E>
void spawn_join(E& e, double scale) {
  const int batch = 1000, rounds = std::max(1, static_cast<int>(200 * scale));
  const auto spawner = [&] {
    std::vector<decltype(e.async([] {}))> running;
    running.reserve(batch);
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < batch; ++i) running.push_back(e.async([] {}));
      for (auto& task : running) task.get();
      running.clear();
    }
  };
  spawner();
  const auto start = clock::now();
  std::vector<decltype(e.async(spawner))> spawners;
  for (int w = 1; w < e.workers(); ++w) spawners.push_back(e.async(spawner));
  spawner();
  for (auto& s : spawners) s.get();
  say("ns", seconds_since(start) * 1e9 / (static_cast<double>(batch) * rounds * e.workers()));
}

/// One task is made and waited for, again and again. ns per task.
template <class E>
void future_latency(E& e, double scale) {
  const int n = std::max(10, static_cast<int>(50000 * scale));
  for (int i = 0; i < n / 10; ++i) e.async([] {}).get();
  const auto start = clock::now();
  for (int i = 0; i < n; ++i) e.async([] {}).get();
  say("ns", seconds_since(start) * 1e9 / n);
}

/// Two tasks per worker yield in turn. ns per yield and worker.
template <class E>
void yields(E& e, double scale) {
  const int n = std::max(10, static_cast<int>(200000 * scale));
  const auto start = clock::now();
  std::vector<decltype(e.async([] {}))> running;
  for (int t = 0; t < 2 * e.workers(); ++t)
    running.push_back(e.async([n] {
      for (int i = 0; i < n; ++i) E::yield();
    }));
  for (auto& task : running) task.get();
  say("ns", seconds_since(start) * 1e9 / (2.0 * n));
}

/// Two tasks take turns over a mutex and a condition variable. ns per turn.
template <class E>
void ping_pong(E& e, double scale) {
  const int n = std::max(10, static_cast<int>(50000 * scale));
  typename E::mutex mutex;
  typename E::condition_variable changed;
  int turn = 0;
  const auto player = [&](int own) {
    for (int i = 0; i < n; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return turn % 2 == own; });
      ++turn;
      changed.notify_one();
    }
  };
  const auto start = clock::now();
  auto other = e.async([&] { player(1); });
  player(0);
  other.get();
  say("ns", seconds_since(start) * 1e9 / (2.0 * n));
}

template <class E, class T>
class bounded_queue {
 public:
  explicit bounded_queue(std::size_t capacity) : capacity_(capacity) {}
  void push(T value) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [&] { return items_.size() < capacity_; });
    items_.push_back(std::move(value));
    not_empty_.notify_one();
  }
  T pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [&] { return !items_.empty(); });
    T value = std::move(items_.front());
    items_.pop_front();
    not_full_.notify_one();
    return value;
  }

 private:
  const std::size_t capacity_;
  typename E::mutex mutex_;
  typename E::condition_variable not_empty_, not_full_;
  std::deque<T> items_;
};

/// An item goes to and fro between two tasks through queues of one place. ns per push and pop.
template <class E>
void channel(E& e, double scale) {
  const int n = std::max(10, static_cast<int>(30000 * scale));
  bounded_queue<E, int> there(1), back(1);
  const auto start = clock::now();
  auto echo = e.async([&] {
    for (int i = 0; i < n; ++i) back.push(there.pop());
  });
  for (int i = 0; i < n; ++i) there.push(i), back.pop();
  echo.get();
  say("ns", seconds_since(start) * 1e9 / (2.0 * n));
}

/// Eight producers and eight consumers over a queue of 16 places, each item `us` of work at both ends. Time over
/// that of the same work without tasks, shared by the workers; voluntary switches of the kernel.
template <class E>
void producers(E& e, double us, double scale) {
  const int items = std::max(80, static_cast<int>(16000 * scale * 2 / us)) / 8 * 8;
  const long rounds = rounds_for(us);
  const auto alone = [&] {
    const auto start = clock::now();
    for (int i = 0; i < 2 * items; ++i) work(rounds);
    return seconds_since(start);
  };
  const double before = alone();
  bounded_queue<E, int> queue(16);
  const long switches = voluntary_switches();
  const auto start = clock::now();
  std::vector<decltype(e.async([] {}))> running;
  for (int p = 0; p < 8; ++p)
    running.push_back(e.async([&] {
      for (int i = 0; i < items / 8; ++i) work(rounds), queue.push(i);
    }));
  for (int c = 0; c < 8; ++c)
    running.push_back(e.async([&] {
      for (int i = 0; i < items / 8; ++i) queue.pop(), work(rounds);
    }));
  for (auto& task : running) task.get();
  const double taken = seconds_since(start);
  say("switches", static_cast<double>(voluntary_switches() - switches));
  say("over_ideal", taken * e.workers() / std::min(before, alone()));
}

/// A loop of 1024 pieces that take `us` each: time of the work alone, shared by the workers, over that of the loop.
template <class E>
void loop(E& e, double us, double scale) {
  const int pieces = 1024, repeats = std::max(3, static_cast<int>(2000 * scale / (pieces / 64 * us)));
  const long rounds = rounds_for(us);
  double best_alone = 1e300;
  std::vector<double> times;
  for (int r = 0; r < repeats + 2; ++r) {
    auto start = clock::now();
    for (int i = 0; i < pieces; ++i) work(rounds);
    best_alone = std::min(best_alone, seconds_since(start));
    start = clock::now();
    e.parallel_for(pieces, [=](int) { work(rounds); });
    if (r >= 2) times.push_back(seconds_since(start));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  say("efficiency", best_alone / (times[times.size() / 2] * e.workers()));
}

/// Resident memory per task while `n` tasks wait for the same event; or how many there were when no more could be
/// had.
template <class E>
void memory(E& e, int n) {
  typename E::mutex mutex;
  typename E::condition_variable changed;
  bool go = false;
  int waiting = 0;
  const double before = resident_bytes();
  std::vector<decltype(e.async([] {}))> running;
  running.reserve(static_cast<std::size_t>(n));
  const auto wait = [&] {
    std::unique_lock lock(mutex);
    if (++waiting == n) changed.notify_all();
    changed.wait(lock, [&] { return go; });
  };
  for (int t = 0; t < n; ++t) running.push_back(e.async(wait));
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return waiting == n; });
    say("bytes", (resident_bytes() - before) / n);
    go = true;
    changed.notify_all();
  }
  for (auto& task : running) task.get();
}

/// `case [scale or argument]`, run on `e`.
template <class E>
void run(E& e, const std::string& what, double argument, double scale) {
  if (what == "spawn_join") return spawn_join(e, scale);
  if (what == "future") return future_latency(e, scale);
  if (what == "yield") return yields(e, scale);
  if (what == "ping_pong") return ping_pong(e, scale);
  if (what == "channel") return channel(e, scale);
  if (what == "producers") return producers(e, argument, scale);
  if (what == "loop") return loop(e, argument, scale);
  if (what == "memory") return memory(e, static_cast<int>(argument));
  std::fprintf(stderr, "unknown case %s\n", what.c_str());
  std::exit(2);
}

/// Command line: case, workers, argument, scale.
struct arguments {
  std::string what;
  int workers;
  double argument, scale;
  arguments(int argc, char** argv) {
    if (argc != 5) {
      std::fprintf(stderr, "%s CASE WORKERS ARGUMENT SCALE\n", argv[0]);
      std::exit(2);
    }
    what = argv[1];
    workers = std::atoi(argv[2]);
    argument = std::atof(argv[3]);
    scale = std::atof(argv[4]);
  }
};

}  // namespace bench
