// Search for the MPI of this process: the library, and the launcher that belongs to it.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plaq/comm/mpi/launcher.hpp"
#include "plaq/comm/mpi/shared_library.hpp"

namespace plaq::comm {

/// Places to look for libraries in, apart from this process.
struct mpi_places {
  /// Folder with bin/ and lib/ of the launcher that started this process, if it is on this machine.
  std::optional<std::filesystem::path> of_launcher;
  /// Folders with bin/ and lib/, the first ones first; then the loader looks where it does for programs.
  std::vector<std::filesystem::path> prefixes;
};
/// Returns those of this process: the launcher among its parents; the folders above the file that contains plaq, such
/// as a Python environment; that of the mpiexec on PATH.
mpi_places find_places();

/// Result of a search: a library, or a reason in words.
struct mpi_choice {
  shared_library library;
  std::string why_none;
};

/// Chooses the MPI of this process: what PLAQ_MPI names, a path or one of openmpi, mpich, abi and none; else one that
/// is in the process, running if there are several; else the first in `places` that the launcher can start. Throws
/// input_error if what PLAQ_MPI names is not there.
mpi_choice choose_mpi(const environment& lookup, const std::optional<launch>& started,
                      const std::function<mpi_places()>& places);

/// Returns the libraries of MPI that this process has, those that are running first.
std::vector<shared_library> mpi_in_process();
/// Returns whether that library is initialised and not finalised.
bool is_running(const shared_library& mpi);
/// Returns its version, e.g. "Open MPI v4.1.4", which implementations follow by how and when they were built.
std::string version_of(const shared_library& mpi);
/// Returns the launcher in the folder bin/ that belongs to a library's path; empty if there is none.
std::string launcher_of(const shared_library& mpi);

}  // namespace plaq::comm
