// What the elements of all ranks come to together: packed values go to a root, which puts them in the order of keys.
#include <algorithm>
#include <mutex>

#include "plaq/base/error.hpp"
#include "plaq/collection/guarded.hpp"
#include "plaq/collection/host.hpp"
#include "plaq/collection/tags.hpp"

namespace plaq::elements {

void host::collect(gathering what) {
  need_sound();
  // What its driver does for a collect is a task, from before it is seen to wait for it: all is not quiet before
  // that has ended.
  ++open_;
  ++begun_;
  try {
    auto next = std::make_unique<step>(what.name);
    next->collects = true;
    next->holds = what.holds;
    const number at = issued_;
    {
      std::lock_guard lock(mutex_);
      pending& fresh = under_way(at);
      fresh.issued = true;
      fresh.what = std::move(what);
    }
    issue(std::move(next));
    finish(at);
  } catch (...) {
    task_ended();
    throw;
  }
  task_ended();
}

/// With the lock; one that this rank's driver has not come to, too.
host::pending& host::under_way(number at) {
  auto& here = pending_[at];
  if (!here) here = std::make_shared<pending>(at);
  return *here;
}

void host::contribute(const step& now, element& e) {
  const key at = e.at;
  std::unique_lock lock(mutex_);
  const auto found = pending_.find(now.at);
  if (found == pending_.end()) return;  // all has failed
  const auto to = found->second;
  lock.unlock();
  std::vector<std::byte> bytes;
  to->what.give(e, bytes);
  if (now.holds) {
    std::lock_guard own(shard_of(at).guard);
    e.now = element::state::held;  // before anybody can release it
  } else {
    advance(e);
  }
  lock.lock();
  to->mine.emplace_back(at, std::move(bytes));
  if (to->mine.size() >= here_) send_collected(to->at, *to);
}

/// With the lock.
void host::send_collected(number at, pending& of) {
  if (of.what.take_own) {
    if (const auto many = of.mine.size() - std::exchange(of.told, of.mine.size()); many > 0)
      post(contribution{at, {}, many}, of.what.root, tag::contribution);
    return;
  }
  if (of.mine.empty()) return;
  post(contribution{at, std::exchange(of.mine, {}), 0}, of.what.root, tag::contribution);
}
void host::send_collected() {
  for (auto& [at, of] : pending_) send_collected(at, *of);
}

void host::heard(const contribution& of) {
  {
    std::lock_guard lock(mutex_);
    pending& to = under_way(of.at);
    to.all.insert(to.all.end(), of.all.begin(), of.all.end());
    to.many += of.many;
  }
  finish(of.at);
}

/// Where all is there, and this is the root.
void host::finish(number at) {
  outcome out{at, rank(), {}};
  std::unique_lock lock(mutex_);
  const auto found = pending_.find(at);
  if (found == pending_.end()) return;
  const auto of = found->second;
  if (of->came && of->issued) return take(at, lock);
  if (!of->issued || of->what.root != rank() || of->finished || of->all.size() + of->many != of_all_) return;
  of->finished = true;
  given all = std::move(of->all);
  lock.unlock();
  std::ranges::sort(all, {}, [](const auto& one) { return one.first; });
  if (of->what.finish) out.bytes = of->what.finish(std::move(all));
  post(out, rank(), tag::outcome);
}

/// To the ranks below this one in a binomial tree, and for this one.
void host::heard(const outcome& of) {
  const int p = size(), me = (rank() - of.root + p) % p;
  for (int bit = 1; bit < p; bit *= 2)
    if (bit > me && me + bit < p) post(of, (me + bit + of.root) % p, tag::outcome);
  std::unique_lock lock(mutex_);
  pending& to = under_way(of.at);
  to.came = of.bytes;
  if (to.issued) take(of.at, lock);
}

void host::take(number at, std::unique_lock<task::mutex>& lock) {
  const auto done = pending_.extract(at).mapped();
  lock.unlock();
  forget_steps(at);
  if (done->what.take_own)
    done->what.take_own(at, std::move(done->mine));
  else
    done->what.take(*done->came);
}

/// Words of others may come before this rank begins.
std::shared_ptr<conversation> host::talk_of(number at) {
  std::lock_guard lock(mutex_);
  auto& here = talks_[at];
  if (!here)
    here = std::make_shared<conversation>(at, rank(), size(),
                                          [this](const word& what, int to) { post(what, to, tag::word); });
  return here;
}

void host::converse(number at, balance::talk mine, balance::method by, conversation::done over,
                    std::function<void(std::exception_ptr)> fail) {
  const auto talk = talk_of(at);
  {
    std::lock_guard lock(mutex_);
    if_talks_fail_[at] = std::move(fail);
  }
  talk->begin(std::move(mine), by, kind_.home, [this, at, over = std::move(over)](const balance::talk& t) {
    {
      std::lock_guard lock(mutex_);
      talks_.erase(at);
      if_talks_fail_.erase(at);
    }
    over(t);
  });
}

/// All elements of all ranks have done the step `done`. The last step stays, which the next one is numbered by and
/// hung on: a rank without elements may hear the outcome of a collect before its driver has issued that step.
void host::forget_steps(number done) {
  std::lock_guard lock(steps_guard_);
  while (steps_.size() > 1 && steps_.front()->at < done) steps_.pop_front();
}

}  // namespace plaq::elements
