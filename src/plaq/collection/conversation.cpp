#include "plaq/collection/conversation.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace plaq::elements {

namespace {

using balance::talk;

/// Where the elements are that mine have sent to: their homes are told by who has them, asked, and answer.
balance::speech find_peers(talk& t, const std::function<int(key)>& home) {
  std::set<key> wanted;
  for (const auto& one : t.mine) {
    t.say(home(one.of)).rest().notes.push_back({one.of, one.of, t.rank, 0, 0});
    for (const auto& p : one.peers) wanted.insert(p.of);
  }
  co_await balance::round_ends;
  std::unordered_map<key, int> where;
  for (const auto& from : t.heard)
    for (const auto& one : from.with->notes) where[one.of] = one.rank;
  for (const key of : wanted) t.say(home(of)).rest().notes.push_back({of, of, -1, 0, 0});
  co_await balance::round_ends;
  for (const auto& from : t.heard)
    for (const auto& asked : from.with->notes)
      if (const auto found = where.find(asked.of); found != where.end())  // else it is no more
        t.say(from.from).rest().notes.push_back({asked.of, asked.of, found->second, 0, 0});
  co_await balance::round_ends;
  std::unordered_map<key, int> rank_of;
  for (const auto& from : t.heard)
    for (const auto& one : from.with->notes) rank_of[one.of] = one.rank;
  for (auto& one : t.mine) {
    std::erase_if(one.peers, [&](const auto& p) { return p.of == one.of || !rank_of.contains(p.of); });
    for (auto& p : one.peers) p.rank = rank_of[p.of];
  }
}

balance::speech find_and_balance(talk& t, balance::method by, std::function<int(key)> home) {
  for (auto s = find_peers(t, home); s.resume();) co_await balance::round_ends;
  for (auto s = balance::whole(t, by); s.resume();) co_await balance::round_ends;
}

}  // namespace

void conversation::begin(talk mine, balance::method by, const std::function<int(key)>& home, done over) {
  std::unique_lock lock(guard_);
  mine_.emplace(std::move(mine));
  speech_.emplace(find_and_balance(*mine_, by, home));
  over_ = std::move(over);
  go_on(lock);
}

void conversation::heard(word&& of) {
  std::unique_lock lock(guard_);
  round& now = rounds_[of.round];
  switch (of.what) {
    case word::says:
      now.heard.push_back(std::move(of.said));
      return post_({.at = at_, .round = of.round, .what = word::got_it, .from = rank_}, of.from);
    case word::got_it: --now.under_way; break;
    case word::up: now.below[std::size_t(of.from - 2 * rank_ - 1)] = of.sum; break;
    case word::down: now.all = of.sum; break;
  }
  if (speech_) go_on(lock);
}

void conversation::go_on(std::unique_lock<task::mutex>& lock) {
  while (true) {
    if (round_ >= 0) {
      round& now = rounds_[round_];
      if (!now.told) {
        if (now.under_way > 0) return;
        balance::together sum = mine_->own;
        for (int k = 0; k < 2; ++k) {
          if (2 * rank_ + 1 + k >= ranks_) continue;
          if (!now.below[std::size_t(k)]) return;
          sum.add(*now.below[std::size_t(k)]);
        }
        now.told = true;
        if (rank_ > 0)
          post_({.at = at_, .round = round_, .what = word::up, .from = rank_, .sum = sum}, (rank_ - 1) / 2);
        else
          now.all = sum;
      }
      if (!now.all) return;
      for (int below = 2 * rank_ + 1; below <= 2 * rank_ + 2 && below < ranks_; ++below)
        post_({.at = at_, .round = round_, .what = word::down, .from = rank_, .sum = *now.all}, below);
      mine_->all = *now.all;
      mine_->heard = std::move(now.heard);
      std::ranges::sort(mine_->heard, {}, &balance::said::from);
      mine_->own = {};
      rounds_.erase(round_);
    }
    if (!speech_->resume()) break;
    ++round_;
    round& next = rounds_[round_];
    for (balance::said& one : std::exchange(mine_->out, {})) {
      if (one.to == rank_) {
        next.heard.push_back(std::move(one));
        continue;
      }
      ++next.under_way;
      const int to = one.to;
      post_({.at = at_, .round = round_, .what = word::says, .from = rank_, .said = std::move(one)}, to);
    }
  }
  const auto over = std::move(over_);
  lock.unlock();
  over(*mine_);
}

}  // namespace plaq::elements
