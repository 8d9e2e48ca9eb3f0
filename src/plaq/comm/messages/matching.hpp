// Matching of messages with receives.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>

#include "plaq/comm/messages/match_table.hpp"
#include "plaq/comm/messages/message.hpp"

namespace plaq::comm {

/// Receives of a rank without their message, messages without their receive, and listeners of whole tags. One thread at
/// a time calls: the messenger holds its lock. Pollers look for messages of other ranks, where there are any.
class matching {
 public:
  matching(int rank, int ranks) : rank_(rank), has_others_(ranks > 1) {}
  ~matching();
  matching(const matching&) = delete;

  /// Whether a receive or a listener waits for other ranks.
  bool awaits_others() const { return from_others_ > 0 || (has_others_ && !listeners_.empty()); }

  /// Returns the receiver of the next message of this peer and tag: the oldest receive that fits, else one of the
  /// listener, else null.
  std::unique_ptr<message> receiver_of(int peer, int tag);

  /// Returns the message that a receive from this peer, or from any, gets at once, or null: the oldest of this rank to
  /// itself.
  std::unique_ptr<message> from_self(int peer, int tag);
  /// Returns the oldest arrival of other ranks for such a receive.
  std::optional<wire::arrival> from_others(int peer, int tag);

  /// Keeps a receive until its message arrives. Returns whether pollers look for it.
  bool post(std::unique_ptr<message> receive);
  /// Keeps a message of this rank to itself, or an arrival, until its receive is posted.
  void keep(std::unique_ptr<message> to_self) { own_.push(*to_self.release()); }
  void keep(const wire::arrival& arrived) { early_.push(*new early(arrived)); }

  /// Sets the listener of a tag. Earlier arrivals are taken one by one. Returns whether pollers look for messages to
  /// it.
  /// @pre The tag has no listener (input_error).
  bool listen(int tag, listener& to);
  /// Removes the listener of a tag. Returns whether pollers have looked for messages to it.
  bool ignore(int tag) { return listeners_.erase(tag) > 0 && has_others_; }

  /// Messages without a receive, with tags 0 ... last_tag.
  unexpected_messages unexpected(int last_tag) const;

  /// Calls visit(message) for all messages that wait for their other end.
  template <class Visit>
  void each(Visit&& visit) const {
    posted_.each(visit);
    own_.each(visit);
  }
  /// Passes all of them to fail(std::unique_ptr<message>, whether pollers look for it), and one message for each
  /// listener; empties the table.
  template <class Fail>
  void give_up(Fail&& fail) {
    for (match_table<message>* table : {&posted_, &own_}) {
      table->each([&](message& m) { fail(std::unique_ptr<message>(&m), m.expected); });
      *table = {};
    }
    for (const auto& [tag, to] : listeners_) fail(to->next(any_rank), has_others_);
    listeners_.clear();
    from_others_ = from_any_ = 0;
  }

 private:
  struct early final : matched {
    explicit early(const wire::arrival& what) : matched{what.peer, what.tag}, what(what) {}
    wire::arrival what;
  };

  const int rank_;
  const bool has_others_;
  match_table<message> posted_;                   ///< receives without their message
  match_table<message> own_;                      ///< messages to itself without their receive
  match_table<early> early_;                      ///< messages of other ranks without their receive
  std::size_t from_others_ = 0;                   ///< number of posted_ that are not from this rank alone
  std::size_t from_any_ = 0;                      ///< number of these from any rank
  std::unordered_map<int, listener*> listeners_;  ///< by tag
};

}  // namespace plaq::comm
