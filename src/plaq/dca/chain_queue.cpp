#include "plaq/dca/chain_queue.hpp"

#include <algorithm>
#include <utility>

namespace plaq::dca {

void chain_queue::add(chain_state s) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(s));
  changed_.notify_all();
}

void chain_queue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

std::vector<chain_state> chain_queue::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  std::vector<chain_state> out;
  while (out.size() < most && !recalled_.empty()) {
    out.push_back(std::move(recalled_.back()));
    recalled_.pop_back();
  }
  while (out.size() < most && !waiting_.empty()) {
    out.push_back(std::move(waiting_.back()));
    waiting_.pop_back();
  }
  return out;
}

std::vector<chain_state> chain_queue::take_complete() {
  const std::lock_guard lock(mutex_);
  return std::exchange(complete_, {});
}

void chain_queue::recall(int chains) {
  const std::lock_guard lock(mutex_);
  for (chain_state& s : recalled_) waiting_.push_front(std::move(s));
  recalled_.clear();
  wanted_ = chains;
  changed_.notify_all();
}

chain_queue::load chain_queue::state() const {
  const std::lock_guard lock(mutex_);
  return {int(waiting_.size() + recalled_.size()), int(running_)};
}

std::optional<chain_state> chain_queue::next(std::size_t most, const control* c) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const bool stopped = c && c->stop.load() != control::go_on;
    if (running_ == 0 && (stopped || (closed_ && waiting_.empty()))) return std::nullopt;
    if (!stopped && !waiting_.empty() && running_ < most) {
      chain_state out = std::move(waiting_.front());
      waiting_.pop_front();
      ++running_;
      return out;
    }
    changed_.wait(lock);
  }
}

bool chain_queue::recalled() {
  const std::lock_guard lock(mutex_);
  if (wanted_ == 0) return false;
  --wanted_;
  return true;
}

void chain_queue::put_back(chain_state s, bool complete, bool was_recalled) {
  const std::lock_guard lock(mutex_);
  if (complete)
    complete_.push_back(std::move(s));
  else if (was_recalled)
    recalled_.push_back(std::move(s));
  else
    waiting_.push_front(std::move(s));
  --running_;
  changed_.notify_all();
}

}  // namespace plaq::dca
