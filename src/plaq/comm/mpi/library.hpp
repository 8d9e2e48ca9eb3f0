// MPI library that plaq was built with: mpi.cpp and mpi_wire.cpp, or no_mpi.cpp without one.
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
/// Ends all processes of the job, possibly this one too.
void mpi_abort(int code);

/// Returns whether this process has MPI running.
bool mpi_is_running();
/// Returns whether plaq initialised MPI, so that it ends when the process exits.
bool mpi_is_ours();

/// Returns the version, e.g. "Open MPI v4.1.4"; empty without MPI.
std::string library_version();
/// Returns the thread level that MPI granted: "serialized" or "multiple"; empty if MPI is not running.
std::string thread_level();
/// Returns whether that MPI takes buffers in the memory of NVIDIA GPUs; false if it does not tell. @pre MPI is running.
bool takes_device_memory();
/// Returns the path of the launcher of that MPI, recorded when plaq was configured; empty without MPI.
std::string mpiexec();

}  // namespace plaq::comm
