// World: all ranks of the job.
#pragma once
#include <cstddef>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

/// Options of the world.
struct world_options {
  /// Length in bytes above which buffers travel in pieces.
  std::size_t longest_message = std::size_t(1) << 30;
  /// Whether ranks watch each other (heartbeat.hpp), so that a job with a rank that fails, ends or makes another
  /// collective call is aborted with a line on standard error. Only if plaq starts MPI, since otherwise it does not
  /// know when MPI ends. The first call of a process decides, the same on all ranks.
  bool heartbeat = true;
  /// Seconds without a reply of a rank that others wait for in a collective operation. @pre > 0 (input_error).
  double timeout = 300;
};

/// Returns a communicator of all ranks of the job. Collective; the first call is made by the main thread. Its wires are
/// those of MPI, or of a job of one rank, and take GPU memory if there is a driver. Initialises MPI on the first call,
/// in a process that a launcher started or that has MPI running; otherwise the world has one rank.
/// @pre The world has the size that the launcher announced (input_error). Ranks but the launcher's first throw some
/// seconds later, since many launchers end all ranks with the first that fails.
communicator world(const world_options& how = {});

/// Returns the number that the launcher gave this process, 0 without one. It is known when world() throws: a program
/// reports the error of all ranks once if only 0 does.
int launched_rank();

}  // namespace plaq::comm
