// Partitioned messages: parts of a buffer that travel when each is ready, as MPI's partitioned requests.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/base/portion.hpp"
#include "plaq/comm/messages/messenger.hpp"

namespace plaq::comm {

namespace detail {

/// Part of a buffer. Parts are as equal as possible. @pre 1 <= parts, tags up to tag + parts - 1 exist (input_error).
template <class T>
std::span<T> part_of(std::span<T> values, std::size_t part, std::size_t parts, int tag) {
  if (parts < 1 || parts > std::size_t(last_tag) || tag < 0 || std::size_t(tag) + parts > std::size_t(last_tag) + 1)
    throw input_error("a message of " + std::to_string(parts) + " parts from tag " + std::to_string(tag) +
                      ": there are tags 0 to " + std::to_string(last_tag) + ", one for each part");
  const portion of{int(part), int(parts)};
  return values.subspan(of.begin(values.size()), of.end(values.size()) - of.begin(values.size()));
}
inline void need_part(std::size_t part, std::size_t parts) {
  if (part >= parts)
    throw input_error("part " + std::to_string(part) + " of a message of " + std::to_string(parts) + " parts");
}

}  // namespace detail

/// Send of a buffer in parts: the task that has computed part i calls ready(i), in any order and from any thread. Each
/// part is prepared once, as a persistent request, and sent once a round. Part i has the tag `tag` + i.
class partitioned_send {
 public:
  /// Prepares the parts. The receiver has a buffer of this length and as many parts.
  /// @pre parts >= 1, tag + parts - 1 <= last_tag (input_error). The messenger outlives this.
  template <lasting_buffer R>
  partitioned_send(messenger& by, R&& values, std::size_t parts, int peer, int tag = 0) {
    for (std::size_t i = 0; i < std::max<std::size_t>(parts, 1); ++i)
      parts_.push_back(by.prepare_send(detail::part_of(std::span(values), i, parts, tag), peer, tag + int(i)));
  }

  std::size_t parts() const { return parts_.size(); }
  /// Sends a part. The future is ready when it may be changed. @pre part < parts() (input_error); the part's future of
  /// the round before is ready.
  task::future<status> ready(std::size_t part) {
    detail::need_part(part, parts());
    return parts_[part].start();
  }

 private:
  std::vector<messenger::persistent_send> parts_;
};

/// Receive of such a buffer, of which each part can be used when it is there.
class partitioned_receive {
 public:
  /// Describes the parts. @pre As of partitioned_send.
  template <lasting_buffer R>
  partitioned_receive(messenger& by, R&& values, std::size_t parts, int peer, int tag = 0) {
    for (std::size_t i = 0; i < std::max<std::size_t>(parts, 1); ++i)
      parts_.push_back(by.prepare_receive(detail::part_of(std::span(values), i, parts, tag), peer, tag + int(i)));
  }

  std::size_t parts() const { return parts_.size(); }
  /// Begins a round: returns the futures of the parts. @pre Those of the round before are ready.
  std::vector<task::future<status>> start() {
    std::vector<task::future<status>> out;
    for (auto& part : parts_) out.push_back(part.start());
    return out;
  }

 private:
  std::vector<messenger::persistent_receive> parts_;
};

}  // namespace plaq::comm
