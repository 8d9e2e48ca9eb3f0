#include "plaq/comm/collectives/call_registry.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "plaq/comm/collectives/operations.hpp"

namespace plaq::comm {

std::string collective_call::in_words() const {
  std::string out(name);
  if (name == "barrier" || bytes == any_length) return out;
  out += " of " + std::to_string(bytes) + " bytes";
  if (root > 0) out += ", root " + std::to_string(root);
  return out;
}

namespace call_registry {

namespace {

constexpr std::size_t most_past = 256;  // groups that are kept after they have ended

struct process {
  std::mutex guard;
  std::vector<operations*> present;
  std::deque<std::pair<std::uint64_t, call_record>> past;  // by group
  std::atomic<int> rank{-1};
  std::atomic<std::int64_t> groups{0};
};
/// Returns the registry, which is never destroyed.
process& self() {
  static process& only = *new process;
  return only;
}

template <std::size_t N>
void copy_text(std::string_view from, std::array<char, N>& to) {
  to.fill(0);
  std::ranges::copy(from.substr(0, N - 1), to.begin());
}

/// Returns whether the call is that of the query.
bool same(const query& asked, const collective_call& made) {
  return std::string_view(asked.name.data()) == made.name.substr(0, asked.name.size() - 1) &&
         asked.bytes == made.bytes && asked.root == made.root && asked.grain == made.grain;
}

}  // namespace

void set_world_rank(int rank) { self().rank = rank; }
int world_rank() { return self().rank; }
std::int64_t new_group() { return (std::int64_t(world_rank()) + 1) << 32 | ++self().groups; }

void enter(operations& of) {
  std::lock_guard lock(self().guard);
  self().present.push_back(&of);
}

void leave(operations& of) {
  std::lock_guard lock(self().guard);
  if (std::erase(self().present, &of) == 0) return;
  self().past.emplace_back(of.group(), of.calls());
  if (self().past.size() > most_past) self().past.pop_front();
}

answer answer_to(const query& asked) {
  std::lock_guard lock(self().guard);
  answer out;
  const auto compare = [&](const call_record& calls) {
    const collective_call* made = calls.find(asked.number);
    if (!made || same(asked, *made)) return;
    out.what = agreement::other;
    copy_text(made->in_words(), out.call);
  };
  for (const operations* o : self().present)
    if (o->group() == asked.group) compare(o->calls());
  for (const auto& [group, calls] : self().past)
    if (group == asked.group) {
      compare(calls);
      if (calls.count() <= asked.number) out.what = agreement::never;
    }
  return out;
}

std::vector<open_call> open_calls() {
  std::lock_guard lock(self().guard);
  std::vector<open_call> out;
  for (const operations* o : self().present)
    for (const auto& [number, call, awaited] : o->open()) {
      open_call& fresh = out.emplace_back();
      fresh.query = {o->group(), number, call.bytes, call.root, call.grain, {}};
      copy_text(call.name, fresh.query.name);
      fresh.in_words = call.in_words();
      fresh.awaited = awaited;
    }
  return out;
}

}  // namespace call_registry
}  // namespace plaq::comm
