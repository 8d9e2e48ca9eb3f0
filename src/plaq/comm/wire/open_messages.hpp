// Peers of messages in progress, in words.
#pragma once
#include <set>
#include <string>

namespace plaq::comm {

/// Peers of messages that have not ended.
struct open_messages {
  std::set<int> from;  ///< any_rank among them
  std::set<int> to;

  /// Returns text such as "receive from ranks 0, 3; send to rank 1", "receive from rank 2 or any".
  std::string in_words() const;
};

/// Throws a runtime_failure about what has not ended on this rank after `seconds`.
[[noreturn]] void throw_timeout(int rank, double seconds, const std::string& what);

}  // namespace plaq::comm
