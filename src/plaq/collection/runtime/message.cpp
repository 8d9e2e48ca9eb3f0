#include "plaq/collection/runtime/message.hpp"

#include <algorithm>
#include <tuple>

namespace plaq::elements {

namespace {

auto rank_of(const message& m) { return std::tuple(m.from, m.step, m.order); }

}  // namespace

void message_list::sort() {
  bool sorted = true;
  for (const message* m = first_; m && m->next && sorted; m = m->next) sorted = rank_of(*m) < rank_of(*m->next);
  if (sorted) return;
  std::vector<message*> all;
  all.reserve(size_);
  for (message* m = first_; m; m = m->next) all.push_back(m);
  std::ranges::sort(all, {}, [](const message* m) { return rank_of(*m); });
  first_ = all.front();
  last_ = all.back();
  for (std::size_t i = 0; i < all.size(); ++i) all[i]->next = i + 1 < all.size() ? all[i + 1] : nullptr;
}

void port_queue::add(std::unique_ptr<message> what) {
  const step_number step = what->step;
  auto at = steps_.end();
  if (empty() || steps_.back().step < step) {
    steps_.push_back({step, {}});
    at = steps_.end() - 1;
  } else if (steps_.back().step == step) {
    --at;
  } else {
    at = std::lower_bound(steps_.begin() + std::ptrdiff_t(front_), steps_.end(), step,
                          [](const of_step& s, step_number n) { return s.step < n; });
    if (at->step != step) at = steps_.insert(at, {step, {}});
  }
  at->messages.add(std::move(what));
}

message_list port_queue::take_before(step_number step) {
  message_list out;
  for (; front_ < steps_.size() && steps_[front_].step < step; ++front_) {
    if (out.size() == 0)
      out = std::move(steps_[front_].messages);
    else
      out.append(std::move(steps_[front_].messages));
  }
  constexpr std::size_t keep = 32;  // emptied places that stay before they are removed all at once
  if (empty()) {
    steps_.clear();
    front_ = 0;
  } else if (front_ > keep && 2 * front_ > steps_.size()) {
    steps_.erase(steps_.begin(), steps_.begin() + std::ptrdiff_t(front_));
    front_ = 0;
  }
  return out;
}

}  // namespace plaq::elements
