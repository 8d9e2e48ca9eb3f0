#include "plaq/collection/runtime/peer_protocol.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace plaq::elements {

namespace {

using balance::coroutine;
using balance::next_round;
using balance::participant;

/// Finds the ranks of the elements that local ones have sent to. Their homes are told where they are, asked, and
/// answer.
coroutine find_peers(participant& self, const std::function<int(key)>& home) {
  std::set<key> peers;
  for (const auto& e : self.local) {
    self.message_to(home(e.id)).content().updates.push_back({e.id, e.id, self.rank, 0, 0});
    for (const auto& p : e.peers) peers.insert(p.id);
  }
  co_await next_round;
  std::unordered_map<key, int> at_home;
  for (const auto& m : self.incoming)
    for (const auto& u : m.more->updates) at_home[u.id] = u.rank;
  for (const key id : peers) self.message_to(home(id)).content().updates.push_back({id, id, -1, 0, 0});
  co_await next_round;
  for (const auto& m : self.incoming)
    for (const auto& asked : m.more->updates)
      if (const auto found = at_home.find(asked.id); found != at_home.end())  // otherwise it has been removed
        self.message_to(m.from).content().updates.push_back({asked.id, asked.id, found->second, 0, 0});
  co_await next_round;
  std::unordered_map<key, int> rank_of;
  for (const auto& m : self.incoming)
    for (const auto& u : m.more->updates) rank_of[u.id] = u.rank;
  for (auto& e : self.local) {
    std::erase_if(e.peers, [&](const auto& p) { return p.id == e.id || !rank_of.contains(p.id); });
    for (auto& p : e.peers) p.rank = rank_of[p.id];
  }
}

coroutine find_and_balance(participant& self, balance::protocol by, std::function<int(key)> home) {
  for (coroutine c = find_peers(self, home); c.resume();) co_await next_round;
  for (coroutine c = balance::run_protocol(self, by); c.resume();) co_await next_round;
}

}  // namespace

void peer_protocol::begin(participant self, balance::protocol by, const std::function<int(key)>& home, done over) {
  std::unique_lock lock(guard_);
  self_.emplace(std::move(self));
  coroutine_.emplace(find_and_balance(*self_, by, home));
  over_ = std::move(over);
  proceed(lock);
}

void peer_protocol::receive(round_message&& what) {
  std::unique_lock lock(guard_);
  round& in = rounds_[what.round];
  switch (what.what) {
    case round_message::content:
      in.incoming.push_back(std::move(what.message));
      return send_({.step = step_, .round = what.round, .what = round_message::acknowledgement, .from = rank_},
                   what.from);
    case round_message::acknowledgement: --in.unacknowledged; break;
    case round_message::report: in.below[std::size_t(what.from - 2 * rank_ - 1)] = what.values; break;
    case round_message::next: in.reduced = what.values; break;
  }
  if (coroutine_) proceed(lock);
}

/// Runs the coroutine as far as rounds are over. Unlocks at the end of the balancing.
void peer_protocol::proceed(std::unique_lock<task::mutex>& lock) {
  while (true) {
    if (round_ >= 0 && !end_round(rounds_[round_])) return;
    if (!coroutine_->resume()) break;
    ++round_;
    send_messages();
  }
  const auto over = std::move(over_);
  lock.unlock();
  over(*self_);
}

/// Reports to the rank above when all messages of this rank and of those below have arrived. Returns whether the round
/// is over; then its messages and reduced values are in place.
bool peer_protocol::end_round(round& now) {
  if (!now.reported) {
    if (now.unacknowledged > 0) return false;
    balance::reduced_values values = self_->own;
    for (int k = 0; k < 2; ++k) {
      if (2 * rank_ + 1 + k >= ranks_) continue;
      if (!now.below[std::size_t(k)]) return false;
      values.add(*now.below[std::size_t(k)]);
    }
    now.reported = true;
    if (rank_ > 0)
      send_({.step = step_, .round = round_, .what = round_message::report, .from = rank_, .values = values},
            (rank_ - 1) / 2);
    else
      now.reduced = values;
  }
  if (!now.reduced) return false;
  for (int below = 2 * rank_ + 1; below <= 2 * rank_ + 2 && below < ranks_; ++below)
    send_({.step = step_, .round = round_, .what = round_message::next, .from = rank_, .values = *now.reduced}, below);
  self_->reduced = *now.reduced;
  self_->incoming = std::move(now.incoming);
  std::ranges::sort(self_->incoming, {}, &balance::protocol_message::from);
  self_->own = {};
  rounds_.erase(round_);
  return true;
}

void peer_protocol::send_messages() {
  round& now = rounds_[round_];
  for (balance::protocol_message& m : std::exchange(self_->outgoing, {})) {
    if (m.to == rank_) {
      now.incoming.push_back(std::move(m));
      continue;
    }
    ++now.unacknowledged;
    const int to = m.to;
    send_({.step = step_, .round = round_, .what = round_message::content, .from = rank_, .message = std::move(m)}, to);
  }
}

std::shared_ptr<peer_protocol> peer_protocols::find_or_make(step_number step) {
  std::lock_guard lock(mutex_);
  auto& found = all_[step];
  if (!found) found = std::make_shared<peer_protocol>(step, rank_, ranks_, send_);
  return found;
}

void peer_protocols::receive(round_message&& what) { find_or_make(what.step)->receive(std::move(what)); }

void peer_protocols::begin(step_number step, participant self, balance::protocol by,
                           const std::function<int(key)>& home, peer_protocol::done over,
                           std::function<void(std::exception_ptr)> fail) {
  const auto fresh = find_or_make(step);
  {
    std::unique_lock lock(mutex_);
    if (failure_) {
      lock.unlock();
      return fail(failure_);
    }
    on_failure_[step] = std::move(fail);
  }
  fresh->begin(std::move(self), by, home, [this, step, over = std::move(over)](const participant& result) {
    {
      std::lock_guard lock(mutex_);
      all_.erase(step);
      on_failure_.erase(step);
    }
    over(result);
  });
}

void peer_protocols::fail(const std::exception_ptr& why) {
  std::map<step_number, std::function<void(std::exception_ptr)>> failed;
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    failed.swap(on_failure_);
  }
  for (auto& [step, call] : failed) call(why);
}

}  // namespace plaq::elements
