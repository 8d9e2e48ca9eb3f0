// Messages in flight on a wire.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plaq/comm/messages/message.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

/// Messages that have begun on a wire and have not ended. Each test looks at a bounded number, so that its cost does
/// not grow with their number. One thread at a time calls: the messenger holds its lock.
class in_flight {
 public:
  explicit in_flight(wire& over) : wire_(over) {}

  bool empty() const { return handles_.empty(); }
  /// Keeps a message unless it is complete at once, as one that has arrived or a small one that has been sent. Returns
  /// whether it keeps it. Throws runtime_failure if it has failed.
  bool add(wire::handle h, std::unique_ptr<message>& what);
  /// Calls over(message, error or "") for those of the next few that have ended.
  void test(const std::function<void(std::unique_ptr<message>, const std::string&)>& over);

  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& m : messages_) visit(*m);
  }
  /// Releases their handles on the wire.
  void forget();
  /// Passes all of them to fail(message), and empties the table.
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
