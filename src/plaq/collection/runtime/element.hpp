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

#include "plaq/collection/runtime/message.hpp"
#include "plaq/collection/runtime/wire_format.hpp"
#include "plaq/task/sync.hpp"
#include "plaq/trace/label.hpp"
#include "plaq/trace/subject.hpp"

namespace plaq::elements {

struct element;
struct running_step;

/// Number of messages that a step takes from a port: all that were sent since the element last took from it.
struct receive {
  int port;
  std::size_t count;                                         ///< for every element
  std::function<std::size_t(const element&)> count_of = {};  ///< in place of count
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
  /// Messages that the next step takes from a port.
  struct expectation {
    int port;
    std::size_t expected, arrived;
    message_list taken = {};  ///< by the step in progress
  };

  const key id;
  status now = status::running;
  std::int64_t moves = 0;                      ///< number of moves between ranks so far
  step_number next_step = 0;                   ///< number of the next step
  step* last_step = nullptr;                   ///< the step before it
  step* awaited_step = nullptr;                ///< the step that it is waiting to begin
  std::vector<expectation> expectations = {};  ///< for each receive of the awaited step
  std::size_t incomplete = 0;                  ///< number of expectations that lack messages
  std::vector<port_queue> inbox = {};          ///< by port: messages that no step has taken
  message_list calls = {};                     ///< messages to handlers, by priority
  std::atomic<bool> called{false};             ///< whether there are any
  task::detail::spin_lock* guard = nullptr;    ///< of the shard that it is in
  measured_load load = {};
  std::optional<trace::subject> subject = {};  ///< for traces, from its first recorded step on this rank

  port_queue& queue_of(int port) {
    if (inbox.size() <= std::size_t(port)) inbox.resize(std::size_t(port) + 1);
    return inbox[std::size_t(port)];
  }
  void add_call(std::unique_ptr<message> what) {
    calls.add_by_priority(std::move(what));
    called = true;
  }
  /// Message that no step or handler has taken, or null.
  const message* any_message() const {
    const message* out = calls.first();
    for (const port_queue& q : inbox) q.for_each([&](const message& m) { out = &m; });
    return out;
  }
};

/// Step of an element in progress.
struct running_step {
  element& of;
  const step& now;
  int destination = -1;    ///< rank that the element moves to afterwards; -1: none
  bool removes = false;    ///< the element is removed afterwards
  std::uint32_t sent = 0;  ///< number of messages so far

  /// Returns the next message that the element sends.
  std::unique_ptr<message> make_message(int port, message_value value) {
    return std::make_unique<message>(port, sent++, now.number, of.id, std::move(value));
  }
  /// Messages that the step takes from a port, by sender, then order; null if it takes none.
  message_list* received(int port) {
    for (element::expectation& x : of.expectations)
      if (x.port == port) return &x.taken;
    return nullptr;
  }
};

/// Handler of messages to elements.
struct handler {
  trace::label name;
  std::function<void(element&, message&)> run;
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
