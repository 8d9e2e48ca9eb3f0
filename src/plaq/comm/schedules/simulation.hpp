// Simulation of a collective operation on another machine: the same schedules, on the clock of a discrete-event
// simulation. LogGP (Alexandrov et al., 1995) with a hierarchy of shared links.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plaq/comm/schedules/algorithms.hpp"

namespace plaq::comm {

/// Machine, in seconds and bytes. Level 0 is a node; level l joins units of level l - 1 (nodes by a switch, switches
/// into a group or pod, groups into all). A message between two ranks goes up to the lowest level that contains both.
/// Below the top it passes the port of each unit that it leaves and enters, one message after another: the ranks of a
/// node share its network card, the nodes below a switch its uplinks.
struct machine {
  /// One level of the network, in seconds and seconds per byte.
  struct level {
    int ranks;        ///< in one unit of this level
    double latency;   ///< L between ranks that share this level, but no lower one
    double gap;       ///< g: least time between two messages through a port at this level
    double per_byte;  ///< G of such a port; at level 0 of a copy by the rank
  };
  std::vector<level> levels;    ///< ascending; the last also joins ranks beyond its size
  double overhead = 0;          ///< o: time of a core for each message that it sends or receives
  double combine_per_byte = 0;  ///< time of a core to combine or copy a byte
  std::size_t eager = 65536;    ///< longer messages wait for their receiver: one more round trip
  int cores = 0;                ///< of a node; 0: one for each rank
  double turn = 0;              ///< time of a core to switch from one rank to another
};

/// Result of a simulation.
struct simulation_result {
  double seconds;               ///< until the last rank is done
  std::uint64_t messages;       ///< in all
  std::uint64_t between_nodes;  ///< of these
  std::uint64_t bytes_between_nodes;
};

/// Simulates the operation; all ranks begin at the same time.
/// @pre ranks >= 1; the machine has levels of ascending size and times that are not negative (input_error). See
/// make_schedule().
simulation_result simulate(const request& wanted, const method& by, const machine& on, int ranks);

}  // namespace plaq::comm
