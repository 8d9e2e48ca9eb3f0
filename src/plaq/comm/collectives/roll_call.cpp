#include "plaq/comm/collectives/roll_call.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "plaq/comm/collectives/operations.hpp"

namespace plaq::comm {

std::string collective_call::in_words() const {
  std::string out(name);
  if (name == "barrier") return out;
  out += " of " + std::to_string(bytes) + " bytes";
  if (root > 0) out += ", root " + std::to_string(root);
  return out;
}

namespace roll_call {

namespace {

constexpr std::size_t most_gone = 256;  // groups that are remembered after they have ended

struct process {
  std::mutex guard;
  std::vector<operations*> here;
  std::deque<std::pair<std::uint64_t, call_record>> gone;  // by group
  std::atomic<int> rank{-1};
  std::atomic<std::int64_t> groups{0};
};
/// Outlives all.
process& self() {
  static process& only = *new process;
  return only;
}

template <std::size_t N>
void copy_text(std::string_view from, std::array<char, N>& to) {
  to.fill(0);
  std::ranges::copy(from.substr(0, N - 1), to.begin());
}

/// In the words of the one that asks.
bool same(const question& asked, const collective_call& made) {
  return std::string_view(asked.name.data()) == made.name.substr(0, asked.name.size() - 1) &&
         asked.bytes == made.bytes && asked.root == made.root && asked.grain == made.grain;
}

}  // namespace

void set_world_rank(int rank) { self().rank = rank; }
int world_rank() { return self().rank; }
std::int64_t new_group() { return (std::int64_t(world_rank()) + 1) << 32 | ++self().groups; }

void enter(operations& of) {
  std::lock_guard lock(self().guard);
  self().here.push_back(&of);
}

void leave(operations& of) {
  std::lock_guard lock(self().guard);
  if (std::erase(self().here, &of) == 0) return;
  self().gone.emplace_back(of.group(), of.calls());
  if (self().gone.size() > most_gone) self().gone.pop_front();
}

answer to(const question& asked) {
  std::lock_guard lock(self().guard);
  answer out;
  const auto compare = [&](const call_record& calls) {
    const collective_call* made = calls.find(asked.number);
    if (!made || same(asked, *made)) return;
    out.what = verdict::other;
    copy_text(made->in_words(), out.call);
  };
  for (const operations* one : self().here)
    if (one->group() == asked.group) compare(one->calls());
  for (const auto& [group, calls] : self().gone)
    if (group == asked.group) {
      compare(calls);
      if (calls.count() <= asked.number) out.what = verdict::never;
    }
  return out;
}

std::vector<open_call> open_calls() {
  std::lock_guard lock(self().guard);
  std::vector<open_call> out;
  for (const operations* one : self().here)
    for (const auto& [number, call, awaited] : one->open()) {
      open_call& fresh = out.emplace_back();
      fresh.asked = {one->group(), number, call.bytes, call.root, call.grain, {}};
      copy_text(call.name, fresh.asked.name);
      fresh.in_words = call.in_words();
      fresh.awaited = awaited;
    }
  return out;
}

}  // namespace roll_call
}  // namespace plaq::comm
