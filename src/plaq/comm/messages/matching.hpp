// Who gets which message.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>

#include "plaq/comm/messages/match_table.hpp"
#include "plaq/comm/messages/message.hpp"

namespace plaq::comm {

/// A rank's receives without their message, its messages without their receive, and who listens to whole tags. One
/// thread at a time calls: the messenger holds its lock.
class matching {
 public:
  explicit matching(int rank) : rank_(rank) {}
  ~matching();
  matching(const matching&) = delete;

  /// Whether a message of another rank is waited for.
  bool anybody_waits() const { return from_others_ > 0 || !listeners_.empty(); }

  /// Who gets the next message of this peer and tag: the oldest receive that fits, else who listens, else nobody.
  std::unique_ptr<message> receiver_of(int peer, int tag);

  /// What a receive from this peer, or from any, gets at once if it is here: the oldest message of this rank to
  /// itself, or of another.
  std::unique_ptr<message> from_myself(int peer, int tag);
  std::optional<wire::arrival> from_others(int peer, int tag);

  /// To wait for the other end. A receive returns whether it is one that pollers look for.
  bool post(std::unique_ptr<message> receive);
  void keep(std::unique_ptr<message> to_myself) { own_.push(*to_myself.release()); }
  void keep(const wire::arrival& came) { early_.push(*new early(came)); }

  /// Throws input_error if somebody listens already. What has come before is taken one by one.
  void listen(int tag, listener& to);
  /// Whether anybody listened.
  bool ignore(int tag) { return listeners_.erase(tag) > 0; }

  unasked nobody_asked_for(int last_tag) const;

  /// Calls visit(message) for all that waits for its other end.
  template <class Visit>
  void each(Visit&& visit) const {
    posted_.each(visit);
    own_.each(visit);
  }
  /// Hands all of them to fail(std::unique_ptr<message>, whether pollers look for it), and one message for each who
  /// listens; nothing is left.
  template <class Fail>
  void give_up(Fail&& fail) {
    for (match_table<message>* table : {&posted_, &own_}) {
      table->each([&](message& m) { fail(std::unique_ptr<message>(&m), m.expected); });
      *table = {};
    }
    for (const auto& [tag, to] : listeners_) fail(to->next(any_rank), true);
    listeners_.clear();
    from_others_ = from_any_ = 0;
  }

 private:
  struct early final : matched {
    explicit early(const wire::arrival& what) : matched{what.peer, what.tag}, what(what) {}
    wire::arrival what;
  };

  const int rank_;
  match_table<message> posted_;                   ///< receives without their message
  match_table<message> own_;                      ///< messages to oneself without their receive
  match_table<early> early_;                      ///< messages of others without their receive
  std::size_t from_others_ = 0;                   ///< how many of posted_ are not from oneself alone
  std::size_t from_any_ = 0;                      ///< how many of these from any rank
  std::unordered_map<int, listener*> listeners_;  ///< by tag
};

}  // namespace plaq::comm
