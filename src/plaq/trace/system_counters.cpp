// Linux: getrusage, /proc and control groups.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "plaq/base/memory.hpp"
#include "plaq/trace/counters.hpp"

namespace plaq::trace::detail {

namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

void read_process(std::vector<sample>& out) {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) != 0) return;
  const auto add = [&](const char* name, const char* unit, double value) {
    out.push_back({name, unit, -1, -1, value});
  };
  add("user time", "s", seconds(used.ru_utime));
  add("system time", "s", seconds(used.ru_stime));
  add("minor page faults", "1", static_cast<double>(used.ru_minflt));
  add("major page faults", "1", static_cast<double>(used.ru_majflt));
  add("peak resident memory", "B", 1024 * static_cast<double>(used.ru_maxrss));
  add("available memory", "B", memory_left().available);
  std::ifstream own("/proc/self/statm");
  if (double all = 0, resident = 0; own >> all >> resident)
    add("resident memory", "B", resident * static_cast<double>(::sysconf(_SC_PAGESIZE)));
}

/// Number after `key` at the beginning of a line, -1 without such a line.
double number_after(const std::string& text, const char* key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + std::strlen(key), nullptr);
}

void read_threads(std::vector<sample>& out) {
  std::error_code ended;  // threads start and end meanwhile
  std::stringstream status;
  for (std::filesystem::directory_iterator next("/proc/self/task", ended), end; !ended && next != end;
       next.increment(ended)) {
    std::ifstream file(next->path() / "status");
    status.str("");
    if (!(status << file.rdbuf())) {
      status.clear();
      continue;
    }
    const std::string text = status.str();
    const long thread = std::strtol(next->path().filename().c_str(), nullptr, 10);
    const double own = number_after(text, "\nvoluntary_ctxt_switches:");
    const double forced = number_after(text, "\nnonvoluntary_ctxt_switches:");
    if (own < 0 || forced < 0) continue;
    out.push_back({"voluntary context switches", "1", -1, thread, own});
    out.push_back({"involuntary context switches", "1", -1, thread, forced});
  }
}

void read_cores(std::vector<sample>& out) {
  cpu_set_t mine;
  if (::sched_getaffinity(::getpid(), sizeof mine, &mine) != 0) return;
  const double tick = 1. / static_cast<double>(::sysconf(_SC_CLK_TCK));
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    int core = 0;
    // user, nice, system, idle, waiting for a device, interrupts (hard, soft), stolen by other virtual machines
    double t[8] = {};
    if (std::sscanf(line.c_str(), "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &core, t, t + 1, t + 2, t + 3, t + 4, t + 5,
                    t + 6, t + 7) != 9)
      continue;
    if (core >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(core), &mine)) continue;
    const double busy = t[0] + t[1] + t[2] + t[5] + t[6];
    out.push_back({"busy time of core " + std::to_string(core), "s", -1, -1, tick * busy});
  }
}

}  // namespace

void read_system(std::vector<sample>& out) {
  read_process(out);
  read_threads(out);
  read_cores(out);
}

}  // namespace plaq::trace::detail
