// What a pair of events costs, in ns, beside two readings of steady_clock: all interleaved in one run, the median of
// many rounds. usage: trace_cost [rounds]
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "plaq/trace/clock.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"

namespace {

using namespace plaq;
using clock = std::chrono::steady_clock;
constexpr int repeats = 20'000;

template <class Body>
double ns_each(Body body) {
  const auto start = clock::now();
  for (int i = 0; i < repeats; ++i) body(static_cast<std::uint64_t>(i) + 1);
  return std::chrono::duration<double, std::nano>(clock::now() - start).count() / repeats;
}

void region_pair(std::uint64_t) { trace::region r("pair"); }
void task_pair(std::uint64_t id) { trace::started(id, 0), trace::finished(id); }
void clock_pair(std::uint64_t) {
  const auto a = clock::now().time_since_epoch().count(), b = clock::now().time_since_epoch().count();
  asm volatile("" : : "r"(a), "r"(b));
}
void tick_pair(std::uint64_t) {
  const auto a = trace::ticks(), b = trace::ticks();
  asm volatile("" : : "r"(a), "r"(b));
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 200;
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_trace_cost_" + std::to_string(::getpid()));
  std::map<std::string, std::vector<double>> found;
  for (int round = 0; round < rounds; ++round) {
    found["two steady_clock::now()"].push_back(ns_each(clock_pair));
    found["two readings of the trace's clock"].push_back(ns_each(tick_pair));
    found["region, nobody records"].push_back(ns_each(region_pair));
    found["started + finished, nobody listens"].push_back(ns_each(task_pair));
    trace::session_options options;
    options.folder = folder / std::to_string(round);
    {
      trace::session recording(options);
      region_pair(0);  // the ring of this thread
      found["region, recorded"].push_back(ns_each(region_pair));
      found["started + finished, recorded"].push_back(ns_each(task_pair));
    }
    std::filesystem::remove_all(folder);
  }
  for (auto& [name, times] : found) {
    std::sort(times.begin(), times.end());
    std::printf("%-38s %7.1f ns (best %.1f)\n", name.c_str(), times[times.size() / 2], times.front());
  }
}
