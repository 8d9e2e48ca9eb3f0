// Launcher of this process, read from the environment: decides whether MPI is initialised.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace plaq::comm {

/// Start of a process by a parallel launcher.
struct launch {
  std::string launcher;     ///< in words, e.g. "Open MPI's mpirun"
  std::optional<int> size;  ///< number of ranks, if the launcher announces it
};

/// Function that returns the value of an environment variable, or null.
using environment = std::function<const char*(const char*)>;

/// Returns the launcher that `lookup` describes, or nothing for a process started by hand and for a Slurm step of one
/// task, where MPI is not needed. Throws input_error if a count in the environment is not a positive number.
std::optional<launch> find_launch(const environment& lookup);

/// Returns `find_launch` of the environment of this process.
std::optional<launch> find_launch();

/// Returns the number of ranks that plaq's own launcher announced (PLAQ_EXPECTED_RANKS), or nothing without it.
std::optional<int> expected_ranks(const environment& lookup);
std::optional<int> expected_ranks();

/// Throws input_error if Open MPI's launcher started a plaq built with an MPI of the MPICH family, whose initialisation
/// would hang. `built_with`: name of that MPI. Call it before MPI starts.
void check_launcher(const std::string& built_with, const std::optional<launch>& started);

/// Throws input_error unless a world of `world_size` ranks is what the launcher and plaq's own launcher announced.
/// `built_with` is empty without MPI.
void check_world(int world_size, const std::string& built_with, const std::optional<launch>& started,
                 std::optional<int> expected);

}  // namespace plaq::comm
