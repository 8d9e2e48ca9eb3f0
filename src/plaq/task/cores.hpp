// Cores that this process may use.
#pragma once
#include <filesystem>
#include <vector>

namespace plaq::task {

/// Number of physical cores that this process may use: those of its affinity mask (hardware threads of one core count
/// once), but not more than its cgroup's limit of processor time, rounded up. At least 1.
int physical_cores();

namespace detail {
/// Hardware threads in the affinity mask of the calling thread.
std::vector<int> allowed_cpus();
/// Groups `cpus` by core, by `<root>/sys/devices/system/cpu`, in the order in which cores appear; a cpu without a
/// topology is a core of its own.
std::vector<std::vector<int>> by_core(const std::vector<int>& cpus, const std::filesystem::path& root);
/// Domain of memory of each worker, whose hardware threads are `places[worker % size]`: the NUMA nodes of
/// `<root>/sys/devices/system/node` that have workers, numbered 0, 1, ... Empty if there is one, as where a place has
/// hardware threads of two nodes or of none that is known.
std::vector<int> domains_of(const std::vector<std::vector<int>>& places, int workers,
                            const std::filesystem::path& root);
/// Smallest limit, in cores, on the path from the process' cgroup (v2 cpu.max or v1 cfs quota) to the top; 0: none.
double cgroup_limit(const std::filesystem::path& root);
}  // namespace detail

}  // namespace plaq::task
