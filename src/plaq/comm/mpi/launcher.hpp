// Launcher of this process, read from the environment: decides whether MPI is initialised.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace plaq::comm {

/// Start of a process by a parallel launcher.
struct launch {
  /// MPI whose ranks the launcher starts: Open MPI, MPICH's kin, of any MPI that speaks PMI or PMIx, or of any MPI.
  enum class kind { open_mpi, mpich, pmi, pmix, any };

  std::string launcher;     ///< in words, e.g. "Open MPI's mpirun"
  std::optional<int> size;  ///< number of ranks, if the launcher announces it
  int rank = 0;             ///< the number that it gave this process
  kind ranks_of = kind::any;
  int version = 0;  ///< of Open MPI where its launcher tells it, which is from 5 on; 0: not known
};

/// Function that returns the value of an environment variable, or null.
using environment = std::function<const char*(const char*)>;

/// Returns the environment of this process.
const char* own_environment(const char* name);

/// Returns the launcher that `lookup` describes, or nothing for a process started by hand and for a Slurm step of one
/// task, where MPI is not needed. Throws input_error if a count in the environment is not a positive number.
std::optional<launch> find_launch(const environment& lookup);

/// Returns `find_launch` of the environment of this process.
std::optional<launch> find_launch();

/// Returns the number of ranks that plaq's own launcher announced (PLAQ_EXPECTED_RANKS), or nothing without it.
std::optional<int> expected_ranks(const environment& lookup);
std::optional<int> expected_ranks();

/// Throws input_error if the launcher is that of Open MPI and this process's MPI is of the MPICH family or the reverse,
/// or if it is that of Open MPI 5 and the MPI is Open MPI 4: its initialisation would hang, or begin an unrelated
/// world. `mpi`: name and place of that MPI. Call it before MPI starts.
void check_launcher(const std::string& mpi, const std::optional<launch>& started);

/// Throws input_error unless a world of `world_size` ranks is what the launcher and plaq's own launcher announced.
/// `mpi` is empty without MPI, and `why_none` tells why.
void check_world(int world_size, const std::string& mpi, const std::string& why_none,
                 const std::optional<launch>& started, std::optional<int> expected);

}  // namespace plaq::comm
