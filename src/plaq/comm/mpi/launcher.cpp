#include "plaq/comm/mpi/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "plaq/base/error.hpp"

namespace plaq::comm {

namespace {

// In this order: a launcher inside a batch job hides the batch system's own variables.
struct launcher_variables {
  const char* launcher;
  const char* rank;
  const char* size;  // null if the launcher does not announce it
};
constexpr const char* open_mpi = "Open MPI's mpirun";
constexpr launcher_variables known[] = {
    {open_mpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH's mpirun", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    {"a PMI launcher (mpiexec of MPICH or Intel MPI, or srun)", "PMI_RANK", "PMI_SIZE"},
    {"Slurm's srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"a PMIx launcher", "PMIX_RANK", nullptr},
};

const char* own_environment(const char* name) { return std::getenv(name); }

std::optional<int> count(const environment& lookup, const char* name) {
  const char* text = lookup(name);
  if (!text) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  if (const auto [stop, error] = std::from_chars(text, end, value); error != std::errc{} || stop != end || value < 1)
    throw input_error("the environment variable " + std::string(name) + " should be a number of ranks, not '" + text +
                      "'");
  return value;
}

std::string ranks(int n) { return std::to_string(n) + (n == 1 ? " rank" : " ranks"); }

std::string mismatch(const launch& started) {
  return "started by " + started.launcher + (started.size ? " with " + ranks(*started.size) : "") +
         ", but plaq was built with";
}
constexpr const char* advice = "; use the launcher that belongs to it, or `plaq ... -n`, which finds it";

}  // namespace

std::optional<launch> find_launch(const environment& lookup) {
  for (const auto& l : known) {
    if (!lookup(l.rank)) continue;
    const bool slurm = std::strcmp(l.rank, "SLURM_PROCID") == 0;
    // A Slurm batch script has SLURM_PROCID too, but it is not a step; only a step has a number of tasks.
    const std::optional<int> size = l.size ? count(lookup, l.size) : std::nullopt;
    if (slurm && !size) continue;
    if (slurm && *size == 1) return std::nullopt;
    return launch{l.launcher, size};
  }
  return std::nullopt;
}

std::optional<launch> find_launch() { return find_launch(own_environment); }

std::optional<int> expected_ranks(const environment& lookup) { return count(lookup, "PLAQ_EXPECTED_RANKS"); }

std::optional<int> expected_ranks() { return expected_ranks(own_environment); }

void check_launcher(const std::string& built_with, const std::optional<launch>& started) {
  const bool mpich_family = built_with.starts_with("MPICH") || built_with.starts_with("Intel");
  if (started && started->launcher == open_mpi && mpich_family)
    throw input_error(mismatch(*started) + " " + built_with + advice);
}

void check_world(int world_size, const std::string& built_with, const std::optional<launch>& started,
                 std::optional<int> expected) {
  if (started && started->size && *started->size != world_size)
    throw input_error(built_with.empty()
                          ? mismatch(*started) + "out MPI"
                          : mismatch(*started) + " " + built_with + ", whose world has " + ranks(world_size) + advice);
  if (expected && *expected != world_size)
    throw input_error("plaq was to run on " + ranks(*expected) + " (PLAQ_EXPECTED_RANKS), but its world has " +
                      ranks(world_size));
}

}  // namespace plaq::comm
