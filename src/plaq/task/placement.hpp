// Which worker runs on which core, and what part of a machine a rank gets.
#pragma once
#include <filesystem>
#include <thread>
#include <vector>

#include "plaq/task/options.hpp"

namespace plaq::task {

/// Hardware threads, the first of each core before the second ones, and how many workers suit them.
struct share {
  std::vector<int> cpus;
  int workers = 1;
};

/// What rank `rank` of a machine gets, when `masks` holds what each of its ranks may use. Ranks with the same mask
/// (their launcher binds nothing, or to something larger than a rank) get blocks of its cores in their order, or all
/// of it and one worker each where there are fewer cores than ranks. Other masks are the launcher's will and stay.
/// Workers: one per core (per hardware thread for binding::threads), but not more than the rank's part of the
/// cgroup's limit of processor time, rounded up.
share fair_share(const std::vector<std::vector<int>>& masks, int rank, binding bind,
                 const std::filesystem::path& root = "/");

namespace detail {

struct placement {
  int workers = 1;
  std::vector<std::vector<int>> cpus;  ///< what worker w is bound to: cpus[w % size]; empty: nothing
  bool refused = false;                ///< by the kernel, where binding::automatic would have bound them
  bool operator==(const placement&) const = default;
};
/// Throws input_error where `given` has negative workers, or cpus that this process may not use.
placement place(const options& given, const std::filesystem::path& root = "/");

/// Whether the kernel binds threads of this process to each of these, and not only says so, as in some containers.
bool may_bind(const std::vector<std::vector<int>>& places);
/// Throws runtime_failure where the kernel refuses.
void bind_thread(std::thread::native_handle_type thread, const std::vector<int>& cpus);

}  // namespace detail

}  // namespace plaq::task
