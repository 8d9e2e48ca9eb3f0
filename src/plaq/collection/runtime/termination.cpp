#include "plaq/collection/runtime/termination.hpp"

#include <utility>

namespace plaq::elements {

termination::termination(std::string name, int rank, int ranks, environment with)
    : name_(std::move(name)), rank_(rank), ranks_(ranks), with_(std::move(with)), waves_(rank, ranks) {}

void termination::end_task() noexcept {
  for (auto open = open_.load(); open > 1;)
    if (open_.compare_exchange_weak(open, open - 1)) return;
  std::lock_guard lock(mutex_);
  if (--open_ > 0) return;
  with_.flush();
  try_report();
  changed_.notify_all();
}

void termination::wait() {
  std::unique_lock lock(mutex_);
  waits_ = true;
  terminated_ = false;
  try_report();
  changed_.wait(lock, [&] { return terminated_ || stopped_; });
}

void termination::receive(const wave_counts& of_child) {
  std::lock_guard lock(mutex_);
  waves_.receive(of_child);
  try_report();
}

void termination::receive(const decision& of) {
  std::lock_guard lock(mutex_);
  waves_.begin_wave();
  if (of.terminated) {
    with_.terminated(of.elements);
    waits_ = false;
    terminated_ = true;
    waves_.reset();
    changed_.notify_all();
  }
  for (const int child : waves_.children()) with_.send_decision(of, child);
  try_report();
}

void termination::stop() {
  std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

void termination::join() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return open_ == 0; });
}

/// Reports the counts of this rank and of those below it, if that is possible now. With the lock. A rank that waits for
/// a reduction takes part, as one that waits for the end does.
void termination::try_report() {
  if (stopped_ || !waves_.ready() || !(waits_ || with_.awaits_result())) return;
  const std::uint64_t ended = begun_ + handled_;
  if (open_ != 0) return;
  wave_counts own{.sent = begun_ + sent_, .handled = ended};
  own.all_wait = waits_;
  with_.describe(own, std::exchange(happened_, ended + sent_) == ended + sent_);
  const wave_counts all = waves_.report(std::move(own));
  if (rank_ > 0) return with_.send_counts(all, waves_.parent());
  const bool quiet = waves_.decide(all);
  const std::string error = quiet ? deadlock_of(all, name_) : "";
  if (error.empty())  // by a message to this rank, too, so that other work gets its turn
    with_.send_decision({quiet && all.all_wait, all.elements}, 0);
  else
    for (int r = 0; r < ranks_; ++r) with_.send_failure(error, r);
}

/// An element that waits for messages in a step that all ranks have issued waits for ever, since messages are taken in
/// later steps than they were sent in.
std::string deadlock_of(const wave_counts& all, const std::string& name) {
  const bool same_steps = all.least_steps == all.most_steps;
  if (all.element && all.element.step < all.least_steps) return all.element.description;
  if (all.all_wait && !same_steps)
    return name + ": ranks have different numbers of steps, " + std::to_string(all.least_steps) + " and " +
           std::to_string(all.most_steps);
  if (all.reduction && same_steps) return all.reduction.description;
  if (all.all_wait && all.receiver) return all.receiver.description;
  return "";
}

}  // namespace plaq::elements
