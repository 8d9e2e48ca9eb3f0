// Which program started this process, read from the environment: decides whether MPI is initialised at all.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace plaq::comm {

/// A process that a parallel launcher started.
struct launch {
  std::string launcher;     ///< in words, e.g. "Open MPI's mpirun"
  std::optional<int> size;  ///< ranks that the launcher started; some launchers do not say
};

/// The value of an environment variable, or null.
using environment = std::function<const char*(const char*)>;

/// The launcher that `lookup` describes; nothing for a process started by hand, and for a Slurm step of one task,
/// where MPI is not needed. Throws input_error if a count in the environment is not a positive number.
std::optional<launch> find_launch(const environment& lookup);

/// `find_launch` in this process's environment.
std::optional<launch> find_launch();

/// The number of ranks that plaq's own launcher promised (PLAQ_EXPECTED_RANKS); nothing without it.
std::optional<int> expected_ranks(const environment& lookup);
std::optional<int> expected_ranks();

/// To be asked before MPI starts: throws input_error where Open MPI's launcher meets an MPI of the MPICH family,
/// which would not come back from its initialisation. `built_with` names the MPI that plaq was built with.
void check_launcher(const std::string& built_with, const std::optional<launch>& started);

/// Throws input_error unless a world of `world_size` ranks is what the launcher and plaq's own launcher promised.
/// `built_with` is empty without MPI.
void check_world(int world_size, const std::string& built_with, const std::optional<launch>& started,
                 std::optional<int> expected);

}  // namespace plaq::comm
