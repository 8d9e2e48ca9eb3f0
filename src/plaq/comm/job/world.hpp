// All ranks of the job.
#pragma once
#include <cstddef>

#include "plaq/comm/wire/communicator.hpp"

namespace plaq::comm {

struct world_options {
  /// Buffers longer than so many bytes travel in pieces.
  std::size_t longest_message = std::size_t(1) << 30;
  /// Whether ranks look after each other (presence.hpp), so that a job does not wait for a rank that fails, ends or
  /// makes another collective call: a line on standard error, and the job ends. Only where it is plaq that starts
  /// MPI, for else it cannot know when MPI ends. The first call of a process decides, the same on all ranks.
  bool presence = true;
  /// Seconds for which a rank that others wait for in a collective operation may give no sign of life.
  double patience = 300;
};

/// All ranks of the job; collective. Its wires are MPI's, or those of a job of one rank, and take memory of GPUs
/// where there is a driver. Initialises MPI on the first call, and only in a process that a launcher started or
/// that has MPI running already; otherwise a world of one rank. The first call comes from the thread that main() runs
/// in. Throws input_error if the world has not the size that the launcher promised, or an option cannot be.
communicator world(const world_options& how = {});

}  // namespace plaq::comm
