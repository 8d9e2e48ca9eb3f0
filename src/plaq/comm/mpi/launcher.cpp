#include "plaq/comm/mpi/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "plaq/base/error.hpp"

namespace plaq::comm {

namespace {

// In this order: a launcher inside a batch job hides the batch system's own variables.
struct launcher_variables {
  const char* launcher;
  const char* rank;
  const char* size;  // null if the launcher does not announce it
  launch::kind ranks_of;
};
constexpr launcher_variables known[] = {
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", launch::kind::open_mpi},
    {"MVAPICH's mpirun", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", launch::kind::mpich},
    {"a PMI launcher (mpiexec of MPICH or Intel MPI, or srun)", "PMI_RANK", "PMI_SIZE", launch::kind::mpich},
    {"Slurm's srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", launch::kind::any},
    {"a PMIx launcher", "PMIX_RANK", nullptr, launch::kind::pmix},
};

std::optional<int> number(const environment& lookup, const char* name, int least, const char* what) {
  const char* text = lookup(name);
  if (!text) return std::nullopt;
  int value = 0;
  const char* end = text + std::strlen(text);
  if (const auto [stop, error] = std::from_chars(text, end, value);
      error != std::errc{} || stop != end || value < least)
    throw input_error("the environment variable " + std::string(name) + " should be " + what + ", not '" + text + "'");
  return value;
}

std::optional<int> count(const environment& lookup, const char* name) {
  return number(lookup, name, 1, "a number of ranks");
}

/// Slurm's srun serves ranks of any MPI, by PMI or PMIx.
launch::kind kind_of(const environment& lookup, const launcher_variables& l, std::optional<int> size) {
  if (l.ranks_of == launch::kind::any && lookup("PMIX_RANK")) return launch::kind::pmix;
  const bool by_pmi = std::strcmp(l.rank, "PMI_RANK") == 0;
  return by_pmi && size && count(lookup, "SLURM_STEP_NUM_TASKS") == size ? launch::kind::pmi : l.ranks_of;
}

std::string ranks(int n) { return std::to_string(n) + (n == 1 ? " rank" : " ranks"); }

std::string start_of(const launch& started) {
  return "started by " + started.launcher + (started.size ? " with " + ranks(*started.size) : "");
}
constexpr std::string_view open_mpi = "Open MPI v";  // begins the name of a library with its version
constexpr const char* advice =
    "; use the launcher that belongs to it or `plaq ... -n`, which finds it, or name the MPI of this launcher in "
    "PLAQ_MPI";

}  // namespace

const char* own_environment(const char* name) { return std::getenv(name); }

std::optional<launch> find_launch(const environment& lookup) {
  for (const auto& l : known) {
    if (!lookup(l.rank)) continue;
    const bool slurm = std::strcmp(l.rank, "SLURM_PROCID") == 0;
    // A Slurm batch script has SLURM_PROCID too, but it is not a step; only a step has a number of tasks.
    const std::optional<int> size = l.size ? count(lookup, l.size) : std::nullopt;
    if (slurm && !size) continue;
    if (slurm && *size == 1) return std::nullopt;
    launch found{l.launcher, size, number(lookup, l.rank, 0, "the number of a rank").value(), kind_of(lookup, l, size)};
    const char* version = lookup("OMPI_VERSION");
    if (version && found.ranks_of == launch::kind::open_mpi) {
      found.launcher = "the mpirun of Open MPI " + std::string(version);
      found.version = std::atoi(version);
    }
    return found;
  }
  return std::nullopt;
}

std::optional<launch> find_launch() { return find_launch(own_environment); }

std::optional<int> expected_ranks(const environment& lookup) { return count(lookup, "PLAQ_EXPECTED_RANKS"); }

std::optional<int> expected_ranks() { return expected_ranks(own_environment); }

void check_launcher(const std::string& mpi, const std::optional<launch>& started) {
  if (!started) return;
  const bool is_open_mpi = mpi.starts_with(open_mpi), is_mpich = mpi.starts_with("MPICH") || mpi.starts_with("Intel");
  const bool is_older = is_open_mpi && started->version >= 5 && std::atoi(mpi.c_str() + open_mpi.size()) < 5;
  if ((started->ranks_of == launch::kind::open_mpi && (is_mpich || is_older)) ||
      (started->ranks_of == launch::kind::mpich && is_open_mpi && started->size != 1))
    throw input_error(start_of(*started) + ", but plaq runs on " + mpi + advice);
}

void check_world(int world_size, const std::string& mpi, const std::string& why_none,
                 const std::optional<launch>& started, std::optional<int> expected) {
  const auto as_announced = [&](const launch& l) {
    if (!l.size) return !mpi.empty() && l.rank < world_size;
    return *l.size == world_size;
  };
  const bool as_started = !started || as_announced(*started);
  if (!as_started && mpi.empty()) throw input_error(start_of(*started) + ", but plaq has no MPI: " + why_none);
  if (!as_started)
    throw input_error(start_of(*started) + ", but plaq runs on " + mpi + ", whose world has " + ranks(world_size) +
                      advice);
  if (expected && *expected != world_size)
    throw input_error("plaq was to run on " + ranks(*expected) + " (PLAQ_EXPECTED_RANKS), but its world has " +
                      ranks(world_size));
}

}  // namespace plaq::comm
