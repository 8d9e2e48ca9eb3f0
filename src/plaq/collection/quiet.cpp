// Whether all is over (Mattern 1987, four counters): waves up and down a tree of ranks add how many tasks have
// begun and messages were sent, and how many of both have ended. All is over if as many had ended when one wave
// was over as had begun when the next began. A rank holds a wave up while tasks of its elements run.
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

/// With the lock: whether this rank waits for what a collect comes to.
bool host::asks() const {
  return std::ranges::any_of(pending_, [](const auto& one) { return one.second->issued && !one.second->came; });
}

/// With the lock: this rank's part of the wave, if it can be told now. Who waits for a collect takes part, as one
/// who waits for the end does; all is over if all wait for that. An element that waits for messages in a step that
/// all ranks have issued will wait for ever when all is quiet, since messages are taken in later steps than they
/// were sent in.
void host::tally_up() {
  const int children = std::clamp(size() - 1 - 2 * rank(), 0, 2);
  if (told_ || tallies_ < children || !sound_ || !(waits_ || asks())) return;
  const std::uint64_t ended = begun_ + handled_;
  if (open_ != 0) return;
  tally all = std::exchange(sum_, {});
  all.add(mine(ended));
  tallies_ = 0;
  told_ = true;
  if (rank() > 0) return messages_.send(all, (rank() - 1) / 2, tag::tally);
  const bool quiet = handled_before_ == all.sent;
  handled_before_ = all.handled;
  const bool same_steps = all.least_steps == all.most_steps;
  std::string wrong;
  if (quiet && all.waits && all.waits.at < all.least_steps)
    wrong = all.waits.words;
  else if (quiet && all.all_wait && !same_steps)
    wrong = kind_.name + ": ranks have different numbers of steps, " + std::to_string(all.least_steps) + " and " +
            std::to_string(all.most_steps);
  else if (quiet && all.asks && same_steps)
    wrong = all.asks.words;
  else if (quiet && all.all_wait && all.nowhere)
    wrong = all.nowhere.words;
  if (wrong.empty())  // by a message here too: others get on in between
    messages_.send(verdict{quiet && all.all_wait, all.elements}, 0, tag::verdict);
  else
    for (int r = 0; r < size(); ++r) messages_.send(wrong, r, tag::failure);
}

void tally::add(const tally& of) {
  sent += of.sent;
  handled += of.handled;
  elements += of.elements;
  least_steps = std::min(least_steps, of.least_steps);
  most_steps = std::max(most_steps, of.most_steps);
  all_wait = all_wait && of.all_wait;
  const auto first = [](stuck& mine, const stuck& other) {
    if (other) mine.note(other.at, other.of, [&] { return other.words; });
  };
  first(waits, of.waits);
  first(nowhere, of.nowhere);
  first(asks, of.asks);
}

void host::heard(const tally& of) {
  std::lock_guard lock(mutex_);
  sum_.add(of);
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

/// With the lock, while no element runs: what is to be told of this rank. What cannot go on is looked for where
/// nothing has happened since the wave before: elsewhere all is not quiet.
tally host::mine(std::uint64_t ended) {
  tally mine{.sent = begun_ + sent_, .handled = ended, .elements = here_};
  mine.least_steps = mine.most_steps = issued_;
  mine.all_wait = waits_;
  if (std::exchange(happened_, ended + sent_) != ended + sent_) return mine;
  const std::string rank_is = "rank " + std::to_string(rank()) + ": ";
  for (shard& in : shards_) {
    std::lock_guard lock(in.guard);
    for (const auto& [at, messages] : in.held)
      mine.nowhere.note(messages.front().step, at, [&] {
        return rank_is + words_of(at) + " is nowhere, but has a message from (" +
               kind_.in_words(messages.front().from) + ")";
      });
    for (const auto& [at, e] : in.here)
      if (e->now == element::state::waits)
        mine.waits.note(e->waits_for->at, at, [&] {
          const step& next = *e->waits_for;
          std::string words = rank_is + words_of(at) + " waits, to begin " + words_of(*e, next) + ":";
          for (std::size_t i = 0; i < e->mails.size(); ++i)
            words += (i ? ", " : " ") + std::to_string(e->mails[i].here) + " of " +
                     std::to_string(e->mails[i].expected) + " messages of '" + port_name(next.receives[i].port) + "'";
          return words;
        });
  }
  for (const auto& [at, of] : pending_)
    if (of->issued && !of->came)
      mine.asks.note(at, 0, [&] {
        return kind_.name + ": step " + std::to_string(at) + " '" + std::string(of->what.name.view()) +
               "' is another call on another rank";
      });
  return mine;
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
  std::map<number, std::function<void(std::exception_ptr)>> talks;
  {
    std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = why;
    given_up.swap(pending_);
    talks.swap(if_talks_fail_);
    changed_.notify_all();
  }
  for (auto& [at, of] : given_up)
    if (of->issued && of->what.fail) of->what.fail(std::make_exception_ptr(runtime_failure(why)));
  for (auto& [at, told] : talks) told(std::make_exception_ptr(runtime_failure(why)));
}

void host::need_sound() const {
  std::lock_guard lock(mutex_);
  if (!failure_.empty()) throw runtime_failure(failure_);
}

}  // namespace plaq::elements
