#include "plaq/comm/messages/matching.hpp"

#include <limits>
#include <string>

#include "plaq/base/error.hpp"

namespace plaq::comm {

namespace {

/// Takes the oldest entry of this peer, or of any if `where` is only a tag. Returns null if there is none.
template <class Entry, class... Where>
std::unique_ptr<Entry> take(match_table<Entry>& table, Where... where) {
  Entry* const found = table.find(where...);
  if (found) table.remove(*found);
  return std::unique_ptr<Entry>(found);
}

}  // namespace

matching::~matching() {
  early_.each([](early& e) { delete &e; });
}

std::unique_ptr<message> matching::receiver_of(int peer, int tag) {
  message* found = posted_.find(peer, tag);
  if (from_any_ > 0)
    if (message* any = posted_.find(any_rank, tag); any && (!found || any->number < found->number)) found = any;
  if (!found) {
    const auto to = listeners_.find(tag);
    return to == listeners_.end() ? nullptr : to->second->next(peer);
  }
  posted_.remove(*found);
  if (found->peer == any_rank) --from_any_;
  if (found->expected) --from_others_;
  found->peer = peer;
  return std::unique_ptr<message>(found);
}

std::unique_ptr<message> matching::from_self(int peer, int tag) {
  if (peer != any_rank && peer != rank_) return nullptr;
  return take(own_, rank_, tag);
}

std::optional<wire::arrival> matching::from_others(int peer, int tag) {
  const auto first = peer == any_rank ? take(early_, tag) : take(early_, peer, tag);
  return first ? std::optional(first->what) : std::nullopt;
}

bool matching::post(std::unique_ptr<message> receive) {
  const bool expected = receive->expected = has_others_ && receive->peer != rank_;
  if (receive->peer == any_rank) ++from_any_;
  if (expected) ++from_others_;
  posted_.push(*receive.release());
  return expected;
}

bool matching::listen(int tag, listener& to) {
  if (!listeners_.try_emplace(tag, &to).second)
    throw input_error("the tag " + std::to_string(tag) + " has a listener already");
  return has_others_;
}

unexpected_messages matching::unexpected(int last_tag) const {
  unexpected_messages all;
  std::uint64_t oldest = std::numeric_limits<std::uint64_t>::max();
  const auto add = [&](const matched& m) {
    if (m.tag > last_tag) return;
    ++all.count;
    if (m.number < oldest) oldest = m.number, all.peer = m.peer, all.tag = m.tag;
  };
  early_.each(add);
  own_.each(add);
  return all;
}

}  // namespace plaq::comm
