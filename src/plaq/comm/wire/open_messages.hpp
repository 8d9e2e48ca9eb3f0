// Who is waited for, in words.
#pragma once
#include <set>
#include <string>

namespace plaq::comm {

/// The peers of messages that have not ended.
struct open_messages {
  std::set<int> from;  ///< any_rank among them
  std::set<int> to;

  /// E.g. "receive from ranks 0, 3; send to rank 1", "receive from rank 2 or any".
  std::string in_words() const;
};

/// Throws a runtime_failure that says what has not ended after so long on this rank.
[[noreturn]] void still_under_way(int rank, double seconds, const std::string& what);

}  // namespace plaq::comm
