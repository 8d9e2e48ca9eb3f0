// Elements, their messages and steps, without their types.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plaq/collection/runtime/wire_format.hpp"
#include "plaq/trace/label.hpp"
#include "plaq/trace/subject.hpp"

namespace plaq::elements {

/// Value of a message: typed within a rank, packed between ranks.
class payload {
 public:
  virtual ~payload() = default;
  virtual void pack(std::vector<std::byte>& to) const = 0;
};
template <class V>
struct typed_payload final : payload {
  explicit typed_payload(V&& v) : value(std::move(v)) {}
  void pack(std::vector<std::byte>& to) const override { archive::pack(value, to); }
  V value;
};
struct packed_payload final : payload {
  explicit packed_payload(std::span<const std::byte> from) : bytes(from.begin(), from.end()) {}
  void pack(std::vector<std::byte>& to) const override { to.insert(to.end(), bytes.begin(), bytes.end()); }
  const std::vector<std::byte> bytes;
};

/// Message from one element to another by a port. It is taken in a later step than it was sent in.
struct message {
  int port = 0;
  std::uint32_t order = 0;  ///< among the messages of its sender and step
  step_number step = 0;     ///< in which it was sent
  key from = 0;
  std::unique_ptr<payload> value = {};
};

struct element;
struct running_step;

/// Number of messages that a step takes from a port: all that were sent since the element last took from it.
struct receive {
  int port;
  std::function<std::size_t(const element&)> count;
};

/// Step that every element does once.
struct step {
  trace::label name;
  std::function<void(running_step&)> run = {};
  std::vector<receive> receives = {};
  bool reduces = false;  ///< elements contribute to a reduction
  bool holds = false;    ///< elements wait for the result of the reduction
  step_number number = -1;
  std::atomic<step*> next = nullptr;
};

/// Load of an element since the last balancing.
struct measured_load {
  double seconds = 0;                             ///< processor time
  double work = 0;                                ///< counted by the element, in units of its own
  std::vector<std::pair<key, double>> sent = {};  ///< bytes by receiver, where they are counted
  void serialize(archive& ar) { ar(seconds, work, sent); }
  void count_bytes(key to, double bytes);
};

/// One element. It belongs to its task while it is running, otherwise to the directory's shard that it is in.
struct element {
  explicit element(key id) : id(id) {}
  virtual ~element() = default;
  virtual void pack_value(std::vector<std::byte>& to) const = 0;
  virtual void unpack_value(comm::unpacker& from) = 0;

  enum class status : char { at_end, waiting, held, running };
  struct expectation {
    std::size_t expected, arrived;
  };

  const key id;
  status now = status::running;
  std::int64_t moves = 0;                      ///< number of moves between ranks so far
  step_number next_step = 0;                   ///< number of the next step
  step* last_step = nullptr;                   ///< the step before it
  step* awaited_step = nullptr;                ///< the step that it is waiting to begin
  std::vector<expectation> expectations = {};  ///< for each receive of the awaited step
  std::size_t incomplete = 0;                  ///< number of expectations that lack messages
  std::vector<message> inbox = {};             ///< messages that no step has taken
  std::vector<step_number> taken_until = {};   ///< by port: messages of earlier steps have been taken
  measured_load load = {};
  std::optional<trace::subject> subject = {};  ///< for traces, from its first recorded step on this rank
};

/// Step of an element in progress.
struct running_step {
  element& of;
  const step& now;
  std::vector<message> received = {};  ///< by port, then sender, then order
  int destination = -1;                ///< rank that the element moves to afterwards; -1: none
  bool removes = false;                ///< the element is removed afterwards
  std::uint32_t sent = 0;              ///< number of messages so far

  /// Returns the next message that the element sends.
  message make_message(int port, std::unique_ptr<payload> value) {
    return {port, sent++, now.number, of.id, std::move(value)};
  }
};

/// Properties and functions that all elements of a collection share.
struct element_type {
  std::string name;
  std::function<int(key)> home;                         ///< rank
  std::function<std::unique_ptr<element>(key)> make;    ///< a default element, to be unpacked
  std::function<std::string(key)> in_words;             ///< the index
  std::function<std::string(const element&)> progress;  ///< for errors; steps are counted where it is empty
  bool fixed = true;                                    ///< elements are neither inserted nor removed
  bool measures = true;                                 ///< the processor time of steps is measured

  /// Name and index of an element, as errors have it: "cells (3, 1)".
  std::string describe(key id) const { return name + " (" + in_words(id) + ")"; }
};

/// Appends the element, with its inbox, to `to`.
void pack_element(const element& what, std::vector<std::byte>& to);
/// Returns the packed element. Throws runtime_failure if the bytes end early.
std::unique_ptr<element> unpack_element(comm::unpacker& from, const element_type& type);

}  // namespace plaq::elements
