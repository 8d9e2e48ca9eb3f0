#include "plaq/comm/wire/open_messages.hpp"

#include <cstdio>

#include "plaq/base/error.hpp"
#include "plaq/comm/wire/wire.hpp"

namespace plaq::comm {

std::string open_messages::in_words() const {
  std::string text;
  const auto add = [&](const char* call, std::set<int> peers) {
    if (peers.empty()) return;
    const bool any = peers.erase(any_rank) > 0;
    text += (text.empty() ? "" : "; ") + std::string(call);
    if (peers.empty()) text += " any rank";
    for (const int peer : peers)
      text += (peer != *peers.begin() ? ", " : peers.size() > 1 ? " ranks " : " rank ") + std::to_string(peer);
    if (any && !peers.empty()) text += " or any";
  };
  add("receive from", from);
  add("send to", to);
  return text;
}

void throw_timeout(int rank, double seconds, const std::string& what) {
  char time[32];
  std::snprintf(time, sizeof time, "%g s", seconds);
  throw runtime_failure("rank " + std::to_string(rank) + ": after " + time + " still in progress: " + what);
}

}  // namespace plaq::comm
