// What the hosts of a collection say to each other.
#pragma once
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
#include "plaq/comm/messages/packing.hpp"

namespace plaq::elements {

using number = std::int64_t;

/// Bytes that are written straight into the message, and read where they lie.
struct letter {
  std::function<void(std::vector<std::byte>& to)> write = {};
  std::span<const std::byte> bytes = {};
};

/// Before a message from element to element; its value follows.
struct envelope {
  key to, from;
  number step;
  std::int64_t moves;  ///< the receiver is on that rank after so many moves, or was
  std::uint32_t order;
  int port;
  int origin;  ///< the rank of the sender
};

/// Where an element is after so many moves.
struct notice {
  key of;
  std::int64_t moves;
  int rank;
};

/// Packed values of elements, with their keys.
using given = std::vector<std::pair<key, std::vector<std::byte>>>;

/// Of some elements, for the collect that step `at` is; or only how many more have given what stays on their rank.
struct contribution {
  number at = 0;
  given all = {};
  std::uint64_t many = 0;
  void serialize(archive& ar) { ar(at, all, many); }
};
/// What the collect came to.
struct outcome {
  number at = 0;
  int root = 0;
  std::vector<std::byte> bytes = {};
  void serialize(archive& ar) { ar(at, root, bytes); }
};

/// Something that cannot go on by itself, in words: of several, what stands at the earliest step, then of the
/// least key.
struct stuck {
  number at = std::numeric_limits<number>::max();
  key of = 0;
  std::string words = {};
  void serialize(archive& ar) { ar(at, of, words); }

  explicit operator bool() const { return !words.empty(); }
  /// words() is called where this comes first.
  template <class Words>
  void note(number other_at, key other, Words words_of) {
    if (!words.empty() && std::pair(other_at, other) >= std::pair(at, of)) return;
    at = other_at;
    of = other;
    words = words_of();
  }
};

/// The part of a checkpoint that a rank has written: what the index knows it by.
struct part_sum {
  std::uint64_t bytes = 0;
  int rank = -1;
  std::uint32_t crc = 0;  ///< CRC-32 of all bytes before the last four, which are it
};

/// What a wave finds on its way up the tree of ranks.
struct tally {
  std::uint64_t sent = 0, handled = 0, elements = 0;
  number least_steps = std::numeric_limits<number>::max(), most_steps = 0;
  bool all_wait = true;
  stuck waits = {};    ///< an element, for messages
  stuck nowhere = {};  ///< an element that has a message
  stuck asks = {};     ///< a collect, at the step that it is
  void serialize(archive& ar) { ar(sent, handled, elements, least_steps, most_steps, all_wait, waits, nowhere, asks); }
  void add(const tally& of);
};
/// What it brings down.
struct verdict {
  bool quiet = false;
  std::uint64_t elements = 0;
};

}  // namespace plaq::elements

template <>
struct plaq::comm::packing<plaq::elements::letter> {
  static void write(const plaq::elements::letter& what, std::vector<std::byte>& to) { what.write(to); }
  static plaq::elements::letter read(unpacker& from) { return {.bytes = from.next(from.left())}; }
};
