// MPI of this process: mpi.cpp, which loads it, or no_mpi.cpp in a build without.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Makes a wire over a duplicate of MPI's world, whose messages are separate from those of other libraries in the
/// program. Returns null without MPI. Initialises MPI if it is not running; MPI is then finalised when the process
/// exits. Buffers longer than `longest_message` bytes travel in pieces.
std::unique_ptr<wire> mpi_world(std::size_t longest_message);
/// Makes a wire over a duplicate of a communicator of the program. `interface` is the binary interface of the program's
/// MPI: openmpi, mpich or abi. Throws as `from_mpi`.
std::unique_ptr<wire> wire_of_program(wire::handle over, const std::string& interface, std::size_t longest_message);
/// Ends all processes of the job, possibly this one too.
void mpi_abort(int code);

/// Returns whether this process has MPI running.
bool mpi_is_running();
/// Returns whether plaq initialised MPI, so that it ends when the process exits.
bool mpi_is_ours();

/// Facts about an MPI.
struct mpi_description {
  std::string version{};   ///< e.g. "Open MPI v4.1.4"; empty without MPI
  std::string library{};   ///< path of the library
  std::string in_words{};  ///< version and place, e.g. "Open MPI v4.1.4 (libmpi.so.40 of /usr/lib)"
  std::string mpiexec{};   ///< path of its launcher; empty if there is none beside it
  std::string why_none{};  ///< why there is no MPI
};
/// Returns the MPI of this process, which is chosen and loaded at the first call. Throws input_error if PLAQ_MPI names
/// none that is there.
mpi_description describe_mpi();
/// Returns `describe_mpi().version`.
std::string library_version();
/// Returns the thread level that MPI granted: "serialized" or "multiple"; empty if MPI is not running.
std::string thread_level();
/// Returns whether that MPI takes buffers in the memory of NVIDIA GPUs; false if it does not tell. @pre MPI is running.
bool takes_device_memory();

}  // namespace plaq::comm
