#include "plaq/comm/schedules/schedule.hpp"

#include <algorithm>
#include <limits>

#include "plaq/base/error.hpp"

namespace plaq::comm {

namespace {
constexpr std::size_t alignment = 64;  // bytes; combining vectorised types likes whole cache lines
}

std::uint32_t program::add(const step& s) {
  check(steps_.size() < std::numeric_limits<std::int32_t>::max(), "a schedule has too many steps");
  steps_.push_back(s);
  return std::uint32_t(steps_.size() - 1);
}

void program::send(int peer, location from, std::size_t size) {
  if (size == 0) return;
  const auto index = add({step::action::send, peer, size, {}, from, {}});
  reads(index, from, size);
  follow(index, last_send_, peer);
}

void program::receive(int peer, location to, std::size_t size) {
  if (size == 0) return;
  const auto index = add({step::action::receive, peer, size, to, {}, {}});
  writes(index, to, size);
  follow(index, last_receive_, peer);
}

void program::copy(location to, location from, std::size_t size) {
  if (size == 0 || to == from) return;
  const auto index = add({step::action::copy, -1, size, to, from, {}});
  reads(index, from, size);
  writes(index, to, size);
}

void program::combine(location to, location left, location right, std::size_t size) {
  if (size == 0) return;
  const auto index = add({step::action::combine, -1, size, to, left, right});
  reads(index, left, size);
  reads(index, right, size);
  writes(index, to, size);
}

location program::allocate(std::size_t size) {
  const location r{memory::scratch, scratch_};
  scratch_ += (size + alignment - 1) / alignment * alignment;
  return r;
}

schedule program::finish() && {
  schedule s;
  s.steps = std::move(steps_);
  s.scratch = scratch_;
  s.waits_for.assign(s.steps.size(), 0);
  s.edge_begin.assign(s.steps.size() + 1, 0);
  for (const auto& d : dependences_) {
    ++s.waits_for[d.edge.later];
    ++s.edge_begin[d.earlier + 1];
  }
  for (std::size_t i = 0; i < s.steps.size(); ++i) s.edge_begin[i + 1] += s.edge_begin[i];
  s.edges.resize(dependences_.size());
  auto next = s.edge_begin;
  for (const auto& d : dependences_) s.edges[next[d.earlier]++] = d.edge;
  return s;
}

void program::wait(std::uint32_t later, std::uint32_t earlier, bool only_begun) {
  if (earlier != no_step && earlier != later) dependences_.push_back({earlier, {later, only_begun}});
}

void program::follow(std::uint32_t index, std::map<int, std::uint32_t>& last, int peer) {
  const auto [before, first] = last.try_emplace(peer, index);
  if (first) return;
  wait(index, before->second, true);
  before->second = index;
}

void program::reads(std::uint32_t index, location from, std::size_t size) {
  if (from.where == memory::input) return;  // no_step writes it
  auto& all = uses_[int(from.where)];
  cut(all, from.offset);
  cut(all, from.offset + size);
  // What no_step used yet still has to be known as read.
  std::size_t at = from.offset;
  auto next = all.lower_bound(at);
  for (const std::size_t end = from.offset + size; at < end;) {
    if (next == all.end() || next->first > at) {
      const std::size_t free_end = next == all.end() ? end : std::min(end, next->first);
      next = all.emplace_hint(next, at, use{free_end, no_step, {}});
    }
    wait(index, next->second.writer, false);
    next->second.readers.push_back(index);
    at = next->second.end;
    ++next;
  }
}

void program::writes(std::uint32_t index, location to, std::size_t size) {
  check(to.where != memory::input, "a schedule writes to its input");
  auto& all = uses_[int(to.where)];
  cut(all, to.offset);
  cut(all, to.offset + size);
  const auto first = all.lower_bound(to.offset), last = all.lower_bound(to.offset + size);
  for (auto u = first; u != last; ++u) {
    // Readers have waited for the writer already.
    if (u->second.readers.empty()) wait(index, u->second.writer, false);
    for (const auto reader : u->second.readers) wait(index, reader, false);
  }
  all.erase(first, last);
  all.emplace(to.offset, use{to.offset + size, index, {}});
}

void program::cut(uses& all, std::size_t at) {
  auto u = all.lower_bound(at);
  if (u == all.begin()) return;
  --u;
  if (u->second.end <= at) return;
  use rest = u->second;
  u->second.end = at;
  all.emplace(at, std::move(rest));
}

}  // namespace plaq::comm
