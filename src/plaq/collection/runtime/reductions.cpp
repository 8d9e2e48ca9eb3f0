#include "plaq/collection/runtime/reductions.hpp"

#include <algorithm>
#include <utility>

namespace plaq::elements {

void reductions::begin(step_number at, request what) {
  std::lock_guard lock(mutex_);
  pending& fresh = find_or_make(at);
  fresh.begun = true;
  last_begun_ = at;
  fresh.what = std::move(what);
}

std::shared_ptr<reductions::pending> reductions::find(step_number at) const {
  std::lock_guard lock(mutex_);
  const auto found = pending_.find(at);
  return found == pending_.end() ? nullptr : found->second;
}

/// With the lock.
reductions::pending& reductions::find_or_make(step_number at) {
  auto& found = pending_[at];
  if (!found) found = std::make_shared<pending>(at);
  return *found;
}

void reductions::add(pending& to, key id, std::vector<std::byte> bytes) {
  std::lock_guard lock(mutex_);
  if (const auto& tree = to.what.tree) {
    const auto place = tree->place(id);
    to.parts.push_back({place, place + 1, std::move(bytes)});
    if (++to.combined >= with_.own_elements()) send_parts(to);
    return;
  }
  to.own.emplace_back(id, std::move(bytes));
  if (to.own.size() >= with_.own_elements()) send(to);
}

/// Returns the rank above in a binomial tree, which for the root is itself.
int reductions::above(int root) const {
  const int rank = (rank_ - root + ranks_) % ranks_;
  return ((rank & (rank - 1)) + root) % ranks_;
}
/// Returns the number of ranks directly below.
std::size_t reductions::below(int root) const {
  const int rank = (rank_ - root + ranks_) % ranks_;
  std::size_t out = 0;
  for (int bit = 1; bit < ranks_ && (rank & bit) == 0; bit *= 2) out += rank + bit < ranks_;
  return out;
}

/// Sends up what is there, once all ranks below have sent something: also those without elements send. So a rank sends
/// once, or more often where elements move meanwhile. With the lock.
void reductions::send_parts(pending& of) {
  const int up = above(of.what.root);
  if (up != rank_ && of.heard.size() < below(of.what.root)) return;
  if (of.parts.empty() && (of.sent || up == rank_)) return;
  of.sent = true;
  auto parts = merge_parts(std::exchange(of.parts, {}), of.what.tree->total, of.what.tree->combine);
  with_.send_contribution({.step = of.at, .parts = std::move(parts)}, up);
}

/// With the lock.
void reductions::send(pending& of) {
  if (of.what.tree) return send_parts(of);
  if (of.what.take_own) {
    if (const auto fresh = of.own.size() - std::exchange(of.reported, of.own.size()); fresh > 0)
      with_.send_contribution({.step = of.at, .kept = fresh}, of.what.root);
    return;
  }
  if (of.own.empty()) return;
  with_.send_contribution({.step = of.at, .values = std::exchange(of.own, {})}, of.what.root);
}

void reductions::flush() {
  std::lock_guard lock(mutex_);
  for (auto& [at, of] : pending_) send(*of);
}

void reductions::receive(const contribution& of, int sender) {
  {
    std::lock_guard lock(mutex_);
    if (of.step <= last_begun_ && !pending_.contains(of.step)) return;  // of a rank without elements, and late
    pending& to = find_or_make(of.step);
    to.all.insert(to.all.end(), of.values.begin(), of.values.end());
    to.kept += of.kept;
    auto& parts = sender == rank_ ? to.collected : to.parts;
    parts.insert(parts.end(), of.parts.begin(), of.parts.end());
    if (sender != rank_) to.heard.insert(sender);
  }
  try_finish(of.step);
}

void reductions::try_finish(step_number at) {
  reduction_result out{at, rank_, {}};
  std::unique_lock lock(mutex_);
  const auto found = pending_.find(at);
  if (found == pending_.end()) return;
  const auto of = found->second;
  if (of->result && of->begun) return take(at, lock);
  if (!of->begun || of->what.root != rank_ || of->finished) return;
  if (const auto& tree = of->what.tree) {
    auto& all = of->collected;
    all = merge_parts(std::move(all), tree->total, tree->combine);
    const bool whole = all.size() == 1 && all[0].end - all[0].begin == tree->total;
    if (!whole && tree->total > 0) return;
    of->finished = true;
    out.bytes = whole ? std::move(all[0].bytes) : tree->of_none;
    lock.unlock();
    return with_.send_result(out, rank_);
  }
  if (of->all.size() + of->kept != with_.all_elements()) return;
  of->finished = true;
  packed_values all = std::move(of->all);
  lock.unlock();
  std::ranges::sort(all, {}, [](const auto& value) { return value.first; });
  if (of->what.finish) out.bytes = of->what.finish(std::move(all));
  with_.send_result(out, rank_);
}

/// Forwards the result in a binomial tree of ranks, and takes it.
void reductions::receive(const reduction_result& of) {
  const int rank = (rank_ - of.root + ranks_) % ranks_;
  for (int bit = 1; bit < ranks_; bit *= 2)
    if (bit > rank && rank + bit < ranks_) with_.send_result(of, (rank + bit + of.root) % ranks_);
  std::unique_lock lock(mutex_);
  pending& to = find_or_make(of.step);
  to.result = of.bytes;
  if (to.begun) take(of.step, lock);
}

/// Ends the reduction on this rank. Unlocks.
void reductions::take(step_number at, std::unique_lock<task::mutex>& lock) {
  const auto of = pending_.extract(at).mapped();
  lock.unlock();
  with_.done(at);
  if (of->what.take_own)
    of->what.take_own(at, std::move(of->own));
  else
    of->what.take(*of->result);
}

bool reductions::awaited() const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(pending_, [](const auto& one) { return one.second->awaited(); });
}

void reductions::for_each_awaited(const std::function<void(step_number, std::string_view)>& use) const {
  std::lock_guard lock(mutex_);
  for (const auto& [at, of] : pending_)
    if (of->awaited()) use(at, of->what.name.view());
}

void reductions::fail(const std::exception_ptr& why) {
  std::map<step_number, std::shared_ptr<pending>> dropped;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(pending_);
  }
  for (auto& [at, of] : dropped)
    if (of->begun && of->what.fail) of->what.fail(why);
}

}  // namespace plaq::elements
