// Whether all is over (Mattern 1987, four counters): waves up and down a tree of ranks add how many tasks have begun and
// messages were sent, and how many of both have ended. All is over if as many had ended when one wave was over as had
// begun when the next began. A rank holds a wave up while tasks of its elements run.
#include <algorithm>
#include <mutex>

#include "plaq/base/error.hpp"
#include "plaq/collection/guarded.hpp"
#include "plaq/collection/host.hpp"
#include "plaq/collection/tags.hpp"

namespace plaq::elements {

void host::wait() {
  need_sound();
  {
    std::unique_lock lock(mutex_);
    waits_ = true;
    quiet_ = false;
    tally_up();
    changed_.wait(lock, [&] { return quiet_ || !failure_.empty(); });
  }
  need_sound();
  forget_detours();
  forget_steps(issued_ - 1);
}

/// With the lock: this rank's part of the wave, if it can be told now.
void host::tally_up() {
  const int children = std::clamp(size() - 1 - 2 * rank(), 0, 2);
  if (!waits_ || told_ || tallies_ < children || !sound_) return;
  const std::uint64_t ended = begun_ + handled_;
  if (open_ != 0) return;
  tally all = std::exchange(sum_, {});
  all.handled += ended;
  all.sent += begun_ + sent_;
  all.elements += here_;
  all.least_steps = tallies_ ? std::min(all.least_steps, issued_.load()) : issued_.load();
  all.most_steps = std::max(all.most_steps, issued_.load());
  if (all.left.empty()) all.left = what_is_left();
  tallies_ = 0;
  told_ = true;
  if (rank() > 0) return messages_.send(all, (rank() - 1) / 2, tag::tally);
  const bool quiet = handled_before_ == all.sent;
  handled_before_ = all.handled;
  if (quiet && all.least_steps != all.most_steps)
    all.left = kind_.name + ": ranks have different numbers of steps, " + std::to_string(all.least_steps) + " and " +
               std::to_string(all.most_steps);
  if (quiet && !all.left.empty())
    for (int r = 0; r < size(); ++r) messages_.send(all.left, r, tag::failure);
  else
    messages_.send(verdict{quiet, all.elements}, 0, tag::verdict);  // by a message here too: others get on in between
}

void host::heard(const tally& of) {
  std::lock_guard lock(mutex_);
  sum_.least_steps = tallies_ ? std::min(sum_.least_steps, of.least_steps) : of.least_steps;
  sum_.most_steps = std::max(sum_.most_steps, of.most_steps);
  sum_.sent += of.sent;
  sum_.handled += of.handled;
  sum_.elements += of.elements;
  if (sum_.left.empty()) sum_.left = of.left;
  ++tallies_;
  tally_up();
}

/// With the lock.
void host::apply(const verdict& of) {
  told_ = false;
  if (of.quiet) {
    if (!kind_.fixed) of_all_ = of.elements;
    waits_ = false;
    quiet_ = true;
    handled_before_.reset();
    changed_.notify_all();
  }
  for (int child = 2 * rank() + 1; child <= 2 * rank() + 2 && child < size(); ++child)
    messages_.send(of, child, tag::verdict);
}

/// Something that waits here for what will not come, if all is quiet.
std::string host::what_is_left() {
  std::string found;
  key first = 0;
  const auto note = [&](key at, auto words) {
    if (!found.empty() && at >= first) return;
    first = at;
    found = "rank " + std::to_string(rank()) + ": " + words();
  };
  for (shard& in : shards_) {
    std::lock_guard lock(in.guard);
    for (const auto& [at, messages] : in.held)
      note(at, [&] {
        return words_of(at) + " is nowhere, but has a message from (" + kind_.in_words(messages.front().from) + ")";
      });
    for (const auto& [at, e] : in.here)
      if (e->now == element::state::waits)
        note(at, [&] {
          const step& next = *e->waits_for;
          std::string words = words_of(at) + " waits, to begin " + words_of(next) + ":";
          for (std::size_t i = 0; i < e->mails.size(); ++i)
            words += (i ? ", " : " ") + std::to_string(e->mails[i].here) + " of " +
                     std::to_string(e->mails[i].expected) + " messages of '" +
                     port_name(next.receives[i].port) + "'";
          return words;
        });
  }
  return found;
}

void host::fault(const std::string& why) noexcept {
  if (!sound_.exchange(false)) return;
  fail(why);
  try {
    for (int other = 0; other < size(); ++other)
      if (other != rank()) messages_.send(why, other, tag::failure);
  } catch (...) {  // those others learn of it when this rank ends
  }
}

void host::fail(const std::string& why) noexcept {
  sound_ = false;
  std::map<number, std::shared_ptr<pending>> given_up;
  {
    std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
    given_up.swap(pending_);
    changed_.notify_all();
  }
  for (auto& [at, of] : given_up)
    if (of->issued && of->what.fail) of->what.fail(std::make_exception_ptr(runtime_failure(why)));
}

void host::need_sound() const {
  std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw runtime_failure(failure_);
}

}  // namespace plaq::elements
