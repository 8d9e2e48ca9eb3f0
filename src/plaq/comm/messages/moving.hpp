// Messages that a wire moves.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plaq/comm/messages/message.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// What has begun on a wire and has not ended. A bounded number is looked at each time, so that a look costs the same
/// however many there are. One thread at a time calls: the messenger holds its lock.
class moving {
 public:
  explicit moving(wire& over) : wire_(over) {}

  bool empty() const { return handles_.empty(); }
  /// Keeps `what`, unless it is over at once: what is here already, or was small enough to be gone already, needs no
  /// further look. Returns whether it keeps it. Throws runtime_failure where it has failed.
  bool add(wire::handle h, std::unique_ptr<message>& what);
  /// Calls over(message, why it failed or "") for those of the next few that have ended.
  void look(const std::function<void(std::unique_ptr<message>, const std::string&)>& over);

  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& m : messages_) visit(*m);
  }
  /// Lets go of them on the wire.
  void forget();
  /// Hands all of them to fail(message).
  template <class Fail>
  void give_up(Fail&& fail) {
    for (auto& m : messages_) fail(std::move(m));
    handles_.clear();
    messages_.clear();
  }

 private:
  wire& wire_;
  std::vector<wire::handle> handles_;  // both in the same order
  std::vector<std::unique_ptr<message>> messages_;
  std::size_t next_ = 0;
  std::vector<wire::end> ends_;
};

}  // namespace plaq::comm
