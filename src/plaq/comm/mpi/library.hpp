// The MPI that plaq was built with, if any: mpi.cpp and mpi_wire.cpp, or else no_mpi.cpp.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// A wire over a duplicate of MPI's world, so that plaq's messages never meet those of another library in the same
/// program; nothing where MPI is not built in. Initialises MPI if nobody has; MPI is then finalised when the process
/// exits. Buffers longer than `longest_message` bytes travel in pieces.
std::unique_ptr<wire> mpi_world(std::size_t longest_message);
/// Ends all processes of the job, perhaps this one too.
void mpi_abort(int code);

/// True if this process has MPI running, whoever initialised it.
bool mpi_is_running();
/// True if it was plaq that initialised it: then MPI ends when the process exits.
bool mpi_is_ours();

/// E.g. "Open MPI v4.1.4"; empty without MPI.
std::string library_version();
/// The thread level that MPI granted: "serialized" or "multiple"; empty where MPI is not running.
std::string thread_level();
/// Whether that MPI, which is running, takes buffers in the memory of NVIDIA's GPUs; false where it does not say.
bool takes_device_memory();
/// Path of the launcher that belongs to that MPI, recorded when plaq was configured; empty without MPI.
std::string mpiexec();

}  // namespace plaq::comm
