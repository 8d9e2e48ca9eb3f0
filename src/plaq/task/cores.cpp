#include "plaq/task/cores.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "plaq/base/cgroup.hpp"
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

namespace {

/// Hardware threads of a list of the kernel's, such as 0-3,8.
std::vector<int> listed_cpus(std::istream& list) {
  std::vector<int> cpus;
  for (int from = 0; list >> from; list.ignore()) {
    int to = from;
    if (list.peek() == '-') list.ignore() >> to;
    for (int cpu = from; cpu <= to; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

/// NUMA node of each hardware thread.
std::map<int, int> nodes_of_cpus(const fs::path& root) {
  std::map<int, int> nodes;
  const fs::path all = root / "sys/devices/system/node";
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(all, none)) {
    const std::string name = entry.path().filename().string();
    int node = 0;
    if (std::sscanf(name.c_str(), "node%d", &node) != 1) continue;
    std::ifstream list(entry.path() / "cpulist");
    for (int cpu : listed_cpus(list)) nodes[cpu] = node;
  }
  return nodes;
}

}  // namespace

std::vector<int> detail::domains_of(const std::vector<std::vector<int>>& places, int workers, const fs::path& root) {
  const std::map<int, int> node_of = nodes_of_cpus(root);
  std::vector<int> nodes;  // of the workers
  for (std::size_t w = 0; !places.empty() && w < static_cast<std::size_t>(workers); ++w) {
    std::set<int> here;
    for (int cpu : places[w % places.size()]) here.insert(node_of.contains(cpu) ? node_of.at(cpu) : -1);
    if (here.size() != 1 || here.contains(-1)) return {};
    nodes.push_back(*here.begin());
  }
  const std::set<int> used(nodes.begin(), nodes.end());
  if (used.size() < 2) return {};
  for (int& node : nodes) node = static_cast<int>(std::distance(used.begin(), used.find(node)));
  return nodes;
}

double detail::cgroup_limit(const fs::path& root) {
  double tightest = 0;
  const auto limit = [&](double quota, double period) {
    if (quota > 0 && period > 0) tightest = tightest > 0 ? std::min(tightest, quota / period) : quota / period;
  };
  const auto number_in = [](const fs::path& file) {
    double number = -1;  // as the kernel writes "no limit"
    std::ifstream(file) >> number;
    return number;
  };
  for_each_cgroup(root, "cpu", [&](const fs::path& folder, int version) {
    if (version == 2) {
      double quota = -1, period = -1;
      std::ifstream(folder / "cpu.max") >> quota >> period;  // "max 100000" leaves -1 or 0
      limit(quota, period);
    } else {
      limit(number_in(folder / "cpu.cfs_quota_us"), number_in(folder / "cpu.cfs_period_us"));
    }
  });
  return tightest;
}

int physical_cores() { return fair_share({detail::allowed_cpus()}, 0, binding::cores).workers; }

}  // namespace plaq::task
