// Messages between the ranks of a collection.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/index.hpp"
#include "plaq/collection/runtime/partial_results.hpp"
#include "plaq/comm/messages/packing.hpp"

namespace plaq::elements {

/// Number of a step of a collection, from 0.
using step_number = std::int64_t;

/// Tags of the messages, after the first one of the collection.
namespace tag {
enum : int { message, element, location, contribution, result, counts, decision, failure, protocol, part, number };
}

/// Bytes that write() appends to a message; the receiver reads them in place.
struct raw_bytes {
  std::function<void(std::vector<std::byte>& to)> write = {};
  std::span<const std::byte> bytes = {};
};

/// Header of a message from element to element. The packed value follows.
struct message_header {
  key to, from;
  step_number step;
  std::int64_t moves;  ///< after which the receiver is on the addressed rank, as far as the sender knows
  std::uint32_t order;
  int port;
  int origin;  ///< rank of the sender
};

/// Rank of an element after a number of moves.
struct location_update {
  key id;
  std::int64_t moves;
  int rank;
};

/// Packed values of elements, with their keys.
using packed_values = std::vector<std::pair<key, std::vector<std::byte>>>;

/// Contributions of some elements to the reduction in `step`: values, or partial results, and the number of elements
/// that have none or whose values stay on their rank.
struct contribution {
  enum route : int {
    up,     ///< from a rank below in the tree of ranks
    home,   ///< to the home of the elements
    direct  ///< to the root, past the tree
  };
  step_number step = 0;
  int by = up;
  packed_values values = {};
  std::vector<partial_result> parts = {};
  std::uint64_t without = 0;
  void serialize(archive& ar) { ar(step, by, values, parts, without); }
};
/// Bytes for one rank.
using bytes_of_rank = std::pair<int, std::vector<std::byte>>;
/// Result of the reduction in `step`: for all ranks, and what some ranks at the receiver and below it get beside.
struct reduction_result {
  step_number step = 0;
  int root = 0;
  std::vector<std::byte> bytes = {};
  std::vector<bytes_of_rank> of_ranks = {};
  void serialize(archive& ar) { ar(step, root, bytes, of_ranks); }
};

/// Description of an element or reduction that cannot proceed. Of several it keeps the one of the earliest step, then
/// of the least key.
struct blocked {
  step_number step = std::numeric_limits<step_number>::max();
  key id = 0;
  std::string description = {};
  void serialize(archive& ar) { ar(step, id, description); }

  explicit operator bool() const { return !description.empty(); }
  /// Replaces this one if (other_step, other) comes first. describe() is called only then.
  template <class Describe>
  void keep_first(step_number other_step, key other, Describe describe) {
    if (!description.empty() && std::pair(other_step, other) >= std::pair(step, id)) return;
    step = other_step;
    id = other;
    description = describe();
  }
  void keep_first(const blocked& other) {
    if (other) keep_first(other.step, other.id, [&] { return other.description; });
  }
};

/// Length and CRC-32 of the part of a checkpoint that a rank has written.
struct part_checksum {
  std::uint64_t bytes = 0;
  int rank = -1;
  std::uint32_t crc = 0;  ///< of all bytes but the last four, which store it
};

/// Counts of a rank, or of a rank and all below it in the tree, in a wave of the termination detection.
struct wave_counts {
  std::uint64_t sent = 0;     ///< tasks begun and messages sent
  std::uint64_t handled = 0;  ///< tasks ended and messages handled
  std::uint64_t elements = 0;
  step_number least_steps = std::numeric_limits<step_number>::max(), most_steps = 0;  ///< issued by a rank
  bool all_wait = true;                                                               ///< every rank is in wait()
  blocked element = {};                                                               ///< waits for messages
  blocked receiver = {};   ///< has a message, but does not exist
  blocked reduction = {};  ///< lacks contributions
  void serialize(archive& ar) {
    ar(sent, handled, elements, least_steps, most_steps, all_wait, element, receiver, reduction);
  }
  void add(const wave_counts& other) {
    sent += other.sent;
    handled += other.handled;
    elements += other.elements;
    least_steps = std::min(least_steps, other.least_steps);
    most_steps = std::max(most_steps, other.most_steps);
    all_wait = all_wait && other.all_wait;
    element.keep_first(other.element);
    receiver.keep_first(other.receiver);
    reduction.keep_first(other.reduction);
  }
  std::uint64_t ended() const { return handled; }
};
/// Decision of rank 0 on a wave.
struct decision {
  bool terminated = false;
  std::uint64_t elements = 0;
};

}  // namespace plaq::elements

template <>
struct plaq::comm::packing<plaq::elements::raw_bytes> {
  static void write(const plaq::elements::raw_bytes& what, std::vector<std::byte>& to) { what.write(to); }
  static plaq::elements::raw_bytes read(unpacker& from) { return {.bytes = from.next(from.left())}; }
};
