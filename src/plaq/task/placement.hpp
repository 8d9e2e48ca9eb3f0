// Placement of workers on cores, and the part of a machine that a rank gets.
#pragma once
#include <filesystem>
#include <thread>
#include <vector>

#include "plaq/task/options.hpp"

namespace plaq::task {

/// Hardware threads, the first of each core before the second ones, and the number of workers for them.
struct share {
  std::vector<int> cpus;
  int workers = 1;
};

/// Returns the share of rank `rank` of a machine; `masks` holds the affinity mask of each of its ranks. Ranks with the
/// same mask (their launcher binds nothing, or to a set larger than a rank's share) get blocks of its cores in their
/// order, or all of it and one worker each if there are fewer cores than ranks. Other masks are the launcher's choice
/// and stay. Workers: one per core (per hardware thread for binding::threads), but not more than the rank's part of the
/// cgroup's limit of processor time, rounded up.
share fair_share(const std::vector<std::vector<int>>& masks, int rank, binding bind,
                 const std::filesystem::path& root = "/");

namespace detail {

struct placement {
  int workers = 1;
  std::vector<std::vector<int>> cpus;  ///< binding of worker w: cpus[w % size]; empty: none
  bool refused = false;                ///< by the kernel, where binding::automatic would have bound them
  std::vector<int> domains{};          ///< domain of memory of worker w: domains[w % size]; empty: there is one
  bool operator==(const placement&) const = default;
};
/// Returns the placement of the workers of a pool.
///
/// @pre given.workers >= 0, and every cpu in given.cpus is allowed for this process, else input_error
placement place_workers(const options& given, const std::filesystem::path& root = "/");

/// Returns whether the kernel binds threads of this process to each of these sets, and does not only report so, as in
/// some containers.
bool may_bind(const std::vector<std::vector<int>>& places);
/// Binds a thread; runtime_failure if the kernel refuses.
void bind_thread(std::thread::native_handle_type thread, const std::vector<int>& cpus);

}  // namespace detail

}  // namespace plaq::task
