#include "plaq/collection/runtime/reductions.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace plaq::elements {

namespace {

/// Gathered values of more bytes go to the root at once: a rank on the way does not keep them.
constexpr std::size_t most_bytes_up = 1 << 16;

std::size_t bytes_in(const packed_values& values) {
  std::size_t out = 0;
  for (const auto& [id, bytes] : values) out += sizeof id + bytes.size();
  return out;
}
void append(packed_values& to, packed_values&& more) { std::ranges::move(more, std::back_inserter(to)); }

}  // namespace

void reductions::begin(step_number at, request what) {
  std::unique_lock lock(mutex_);
  if (failure_) {  // of another rank, since the driver looked
    lock.unlock();
    if (what.fail) what.fail(failure_);
    return;
  }
  pending& fresh = find_or_make(at);
  fresh.begun = true;
  last_begun_ = at;
  fresh.what = std::move(what);
  fresh.at_home = with_.elements_at_home();
  fresh.own_complete = with_.own_elements() == 0;
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

void reductions::add(pending& to, key id, bool any, std::vector<std::byte> bytes) {
  std::unique_lock lock(mutex_);
  if (any) to.own.emplace_back(id, std::move(bytes));
  if (!any || to.what.take_own) ++to.own_without[to.what.combined ? with_.home(id) : rank_];
  if (++to.contributed < with_.own_elements()) return;
  dispatch(to);
  lock.unlock();
  proceed(to.at);
}

/// Returns the rank above in a binomial tree, which for the root is itself.
int reductions::above(int root) const {
  const int rank = (rank_ - root + ranks_) % ranks_;
  return ((rank & (rank - 1)) + root) % ranks_;
}
/// Returns the number of ranks directly below.
int reductions::below(int root) const {
  const int rank = (rank_ - root + ranks_) % ranks_;
  int out = 0;
  for (int bit = 1; bit < ranks_ && (rank & bit) == 0; bit *= 2) out += rank + bit < ranks_;
  return out;
}

/// Puts the contributions of this rank on their way. With the lock.
void reductions::dispatch(pending& of) {
  of.own_complete = true;
  if (of.what.combined) return send_home(of);
  if (!of.what.take_own) append(of.values, std::exchange(of.own, {}));
  for (const auto& [home, n] : std::exchange(of.own_without, {})) of.without += n;
}

/// With the lock.
void reductions::send_home(pending& of) {
  std::map<int, contribution> to;
  for (auto& value : std::exchange(of.own, {})) to[with_.home(value.first)].values.push_back(std::move(value));
  for (const auto& [home, n] : std::exchange(of.own_without, {})) to[home].without = n;
  for (auto& [home, what] : to)
    if (home == rank_) {
      append(of.values, std::move(what.values));
      of.without += what.without;
    } else {
      what.step = of.at;
      what.by = contribution::home;
      with_.send_contribution(what, home);
    }
}

/// Returns the combined values of this rank and those below, as few parts. With the lock.
std::vector<partial_result> reductions::combine(pending& of, places known) const {
  const request::in_order& by = *of.what.combined;
  for (auto& [id, bytes] : std::exchange(of.values, {})) {
    const place at = by.place_of(id);
    of.parts.push_back({at, at, std::move(bytes)});
  }
  return merge_parts(std::exchange(of.parts, {}), known, by.combine);
}

/// Whether this rank has all that it is to send up, or of which it makes the result. With the lock.
bool reductions::is_complete(const pending& of) const {
  if (!of.begun) return false;
  const std::uint64_t here = of.values.size() + of.without;
  if (!of.what.combined && of.what.root == rank_) return here == with_.all_elements();
  if (int(of.heard.size()) < below(of.what.root)) return false;
  return of.what.combined ? here == of.at_home : of.own_complete;
}

/// Sends up what is there once the ranks below have sent something: also those without elements send. A combination is
/// sent once; gathered values once, or more often where elements move meanwhile. With the lock.
void reductions::send_up(pending& of) {
  const int up = above(of.what.root);
  if (up == rank_ || !is_complete(of) || (of.sent && (of.what.combined || (of.values.empty() && of.without == 0))))
    return;
  of.sent = true;
  contribution what{.step = of.at};
  if (of.what.combined) {
    const int below_too = rank_ | ((rank_ & -rank_) - 1);  // ranks of this branch follow each other
    what.parts = combine(of, of.what.combined->known(rank_, std::min(below_too, ranks_ - 1)));
  } else {
    what.without = std::exchange(of.without, 0);
    what.values = std::exchange(of.values, {});
    if (up != of.what.root && bytes_in(what.values) > most_bytes_up) {
      with_.send_contribution({.step = of.at, .by = contribution::direct, .values = std::exchange(what.values, {})},
                              of.what.root);
    }
  }
  with_.send_contribution(what, up);
}

void reductions::flush() {
  std::lock_guard lock(mutex_);
  for (auto& [at, of] : pending_) {
    if (!of->begun || of->finished) continue;
    const bool any = !of->own_without.empty() || (!of->own.empty() && !of->what.take_own);
    if (!any && of->own_complete) continue;
    dispatch(*of);  // a message to this rank: what combines values may fail, and ends no task
    with_.send_contribution({.step = at, .by = contribution::direct}, rank_);
  }
}

void reductions::receive(const contribution& of, int sender) {
  {
    std::lock_guard lock(mutex_);
    if (of.step <= last_begun_ && !pending_.contains(of.step)) return;  // of a rank without elements, and late
    pending& to = find_or_make(of.step);
    if (to.finished) return;
    to.values.insert(to.values.end(), of.values.begin(), of.values.end());
    to.parts.insert(to.parts.end(), of.parts.begin(), of.parts.end());
    to.without += of.without;
    if (of.by == contribution::up) to.heard.insert(sender);
  }
  proceed(of.step);
}

void reductions::proceed(step_number at) {
  std::unique_lock lock(mutex_);
  const auto found = pending_.find(at);
  if (found == pending_.end() || !found->second->begun) return;
  const auto of = found->second;
  if (of->result) return take(at, lock);
  if (of->what.root != rank_) return send_up(*of);
  if (of->finished || !is_complete(*of)) return;
  of->finished = true;
  lock.unlock();
  outcome all = finish(*of);
  with_.send_result({at, rank_, std::move(all.bytes), std::move(all.of_ranks)}, rank_);
}

/// Makes the result, on the root.
reductions::outcome reductions::finish(pending& of) const {
  if (const auto& by = of.what.combined) {
    auto all = combine(of, {});
    return {by->end(all.empty() ? std::nullopt : std::optional(std::move(all[0].bytes))), {}};
  }
  packed_values all = std::move(of.values);
  std::ranges::sort(all, {}, [](const auto& value) { return value.first; });
  return of.what.finish ? of.what.finish(std::move(all)) : outcome{};
}

/// Forwards the result in a binomial tree of ranks, with what the ranks of each branch get beside, and takes it.
void reductions::receive(reduction_result of) {
  const int rank = (rank_ - of.root + ranks_) % ranks_;
  std::vector<reduction_result> branches(std::size_t(std::bit_width(unsigned(ranks_ - 1))),
                                         {of.step, of.root, of.bytes, {}});
  std::vector<bytes_of_rank> own;
  for (auto& beside : std::exchange(of.of_ranks, {})) {
    const unsigned further = unsigned((beside.first - of.root + ranks_) % ranks_) >> std::bit_width(unsigned(rank));
    if (further == 0)
      of.of_ranks.push_back(std::move(beside));
    else
      branches[std::size_t(std::bit_width(unsigned(rank)) + std::countr_zero(further))].of_ranks.push_back(
          std::move(beside));
  }
  for (int bit = 1, number = 0; bit < ranks_; bit *= 2, ++number)
    if (bit > rank && rank + bit < ranks_)
      with_.send_result(branches[std::size_t(number)], (rank + bit + of.root) % ranks_);
  std::unique_lock lock(mutex_);
  pending& to = find_or_make(of.step);
  to.result = std::move(of);
  if (to.begun) take(to.at, lock);
}

/// Ends the reduction on this rank. Unlocks.
void reductions::take(step_number at, std::unique_lock<task::mutex>& lock) {
  const auto of = pending_.extract(at).mapped();
  lock.unlock();
  with_.done(at);
  if (of->what.take_own) return of->what.take_own(at, std::move(of->own));
  const auto& beside = of->result->of_ranks;
  of->what.take(of->result->bytes, beside.empty() ? std::span<const std::byte>() : beside[0].second);
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
    if (!failure_) failure_ = why;
    dropped.swap(pending_);
  }
  for (auto& [at, of] : dropped)
    if (of->begun && of->what.fail) of->what.fail(why);
}

}  // namespace plaq::elements
