// A collective operation on a machine that we do not have: the same schedules, run by the same engine, on the
// clock of a discrete-event simulation. LogGP (Alexandrov et al., 1995) with a hierarchy of shared links.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/comm/schedules/algorithms.hpp"

namespace plaq::comm {

/// A machine, in seconds and bytes. Level 0 is a node; level l joins units of level l - 1 (nodes by a switch,
/// switches into a group or pod, groups into all). A message between two ranks goes up to the lowest level that
/// holds both. Below the top it passes the port of each unit that it leaves and enters, one message after another:
/// the ranks of a node share its network card, the nodes below a switch its uplinks.
struct machine {
  struct level {
    int ranks;        ///< that one unit of this level holds
    double latency;   ///< L between ranks that have this level, but no lower one, in common
    double gap;       ///< g: least time between two messages through a port at this level
    double per_byte;  ///< G of such a port; at level 0 of a rank's own copy
  };
  std::vector<level> levels;    ///< ascending; the last may be smaller than the job: it then joins the rest
  double overhead = 0;          ///< o: time of a core for each message that it sends or receives
  double combine_per_byte = 0;  ///< time of a core to combine or copy a byte
  std::size_t eager = 65536;    ///< longer messages wait for their receiver: one more round trip
  int cores = 0;                ///< of a node; 0: one for each rank
  double turn = 0;              ///< time for a core to turn from one rank to another
};

struct simulated {
  double seconds;          ///< until the last rank is done
  std::uint64_t messages;  ///< in all
  std::uint64_t across;    ///< of these between nodes
  std::uint64_t bytes_across;
};

/// All ranks begin at once. Throws input_error for a machine that cannot be, or as make_schedule does.
simulated simulate(const request& wanted, const method& by, const machine& on, int ranks);

}  // namespace plaq::comm
