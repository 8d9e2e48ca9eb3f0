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
  return {int(waiting_.size() + recalled_.size()), running_};
}

void chain_queue::set_places(int places) {
  const std::lock_guard lock(mutex_);
  places_ = places;
  places_counter_.set(places);
  changed_.notify_all();
}

void chain_queue::count_running(int change) {
  running_ += change;
  running_counter_.set(running_);
}

std::optional<chain_state> chain_queue::next(const control* c) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const bool stopped = c && c->stop.load() != control::go_on;
    if (running_ == 0 && (stopped || (closed_ && waiting_.empty()))) return std::nullopt;
    if (!stopped && !waiting_.empty() && running_ < places_) {
      chain_state out = std::move(waiting_.front());
      waiting_.pop_front();
      count_running(+1);
      return out;
    }
    changed_.wait(lock);
  }
}

chain_queue::leave chain_queue::between_bins() {
  const std::lock_guard lock(mutex_);
  if (wanted_ > 0) {
    --wanted_;
    return leave::recalled;
  }
  if (running_ - leaving_ <= places_) return leave::no;
  ++leaving_;
  return leave::makes_way;
}

void chain_queue::put_back(chain_state s, bool complete, leave why) {
  const std::lock_guard lock(mutex_);
  if (why == leave::makes_way) --leaving_;
  if (complete)
    complete_.push_back(std::move(s));
  else if (why == leave::recalled)
    recalled_.push_back(std::move(s));
  else
    waiting_.push_front(std::move(s));
  count_running(-1);
  changed_.notify_all();
}

}  // namespace plaq::dca
