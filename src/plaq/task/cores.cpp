#include "plaq/task/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>

#include "plaq/task/placement.hpp"

namespace plaq::task {

namespace fs = std::filesystem;

std::vector<int> detail::allowed_cpus() {
  for (int size = 1024;; size *= 2) {
    cpu_set_t* mask = CPU_ALLOC(size);
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    const int failed = sched_getaffinity(0, bytes, mask) ? errno : 0;
    std::vector<int> cpus;
    for (int cpu = 0; !failed && cpu < size; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, mask)) cpus.push_back(cpu);
    CPU_FREE(mask);
    if (!failed) return cpus;
    // EINVAL: the kernel's mask is longer than ours
    if (failed != EINVAL || size > (1 << 20))
      throw std::system_error(failed, std::generic_category(), "sched_getaffinity");
  }
}

std::vector<std::vector<int>> detail::by_core(const std::vector<int>& cpus, const fs::path& root) {
  std::vector<std::string> names;  // of the cores: the list of their hardware threads
  std::vector<std::vector<int>> cores;
  for (int cpu : cpus) {
    const std::string name = (fs::path("cpu") += std::to_string(cpu)).string();
    std::ifstream file(root / "sys/devices/system/cpu" / name / "topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings)) siblings = name;
    const auto at = std::find(names.begin(), names.end(), siblings);
    if (at == names.end()) {
      names.push_back(siblings);
      cores.push_back({cpu});
    } else {
      cores[static_cast<std::size_t>(at - names.begin())].push_back(cpu);
    }
  }
  return cores;
}

double detail::cgroup_limit(const fs::path& root) {
  double tightest = 0;
  const auto limit = [&](double quota, double period) {
    if (quota > 0 && period > 0) tightest = tightest > 0 ? std::min(tightest, quota / period) : quota / period;
  };
  const auto number_in = [](const fs::path& file) {
    double number = -1;  // as the kernel says "no limit"
    std::ifstream(file) >> number;
    return number;
  };
  // Calls look(folder) for the folder of `group` below `mount` and all above it.
  const auto upwards = [](const fs::path& mount, const fs::path& group, auto look) {
    for (fs::path at = group.relative_path(); !at.empty(); at = at.parent_path()) look(mount / at);
    look(mount);
  };
  std::ifstream groups(root / "proc/self/cgroup");  // lines "id:controllers:path", controllers empty for v2
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const fs::path group = line.substr(second + 1);
    if (controllers == ",,") {
      upwards(root / "sys/fs/cgroup", group, [&](const fs::path& folder) {
        double quota = -1, period = -1;
        std::ifstream(folder / "cpu.max") >> quota >> period;  // "max 100000" leaves -1 or 0
        limit(quota, period);
      });
    } else if (controllers.find(",cpu,") != std::string::npos) {
      upwards(root / "sys/fs/cgroup/cpu", group, [&](const fs::path& folder) {
        limit(number_in(folder / "cpu.cfs_quota_us"), number_in(folder / "cpu.cfs_period_us"));
      });
    }
  }
  return tightest;
}

int physical_cores() { return fair_share({detail::allowed_cpus()}, 0, binding::cores).workers; }

}  // namespace plaq::task
