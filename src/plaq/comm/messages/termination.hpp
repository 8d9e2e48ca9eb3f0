// How ranks that send each other work find that all is done.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "plaq/comm/messages/messenger.hpp"

namespace plaq::comm {

/// What a rank has done so far. A message is counted once by who sends it, and once where it comes: as handled, or as
/// left as long as nobody there takes it.
struct tally {
  std::uint64_t sent = 0, handled = 0, left = 0;
  std::string error;  ///< the first, in words
  std::string which;  ///< is left, in words
};

/// Returns when nothing is under way on any rank, with the first error of all ranks or "". Messages that are left
/// when nothing else goes on are an error too. `look` gives the rank's tally, whenever it is asked. Collective;
/// messages of this tag are its own. Four counters (Mattern, 1987): a wave up and down a tree of ranks adds what
/// each has sent and handled; nothing was under way between two waves if the one before found as many handled as
/// this one finds sent.
std::string wait_for_quiet(messenger& over, int tag, const std::function<tally()>& look);

}  // namespace plaq::comm
