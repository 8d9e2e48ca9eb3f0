#include "plaq/comm/messages/in_flight.hpp"

#include <algorithm>
#include <span>

#include "plaq/base/error.hpp"

namespace plaq::comm {

bool in_flight::add(wire::handle h, std::unique_ptr<message>& what) {
  ends_.clear();
  wire_.test({&h, 1}, ends_);
  if (!ends_.empty()) {
    if (!ends_[0].error.empty()) throw runtime_failure(ends_[0].error);
    return false;
  }
  handles_.push_back(h);
  messages_.push_back(std::move(what));
  return true;
}

void in_flight::test(const std::function<void(std::unique_ptr<message>, const std::string&)>& over) {
  constexpr std::size_t window = 32;
  if (handles_.empty()) return;
  if (next_ >= handles_.size()) next_ = 0;
  ends_.clear();
  const std::size_t begin = next_, n = std::min(window, handles_.size() - begin);
  wire_.test(std::span(handles_).subspan(begin, n), ends_);
  next_ += n;
  std::ranges::sort(ends_, std::greater<>(), &wire::end::index);  // the last fill the gaps
  for (const wire::end& e : ends_) {
    const std::size_t i = begin + e.index;
    over(std::move(messages_[i]), e.error);
    handles_[i] = handles_.back();
    if (i + 1 < messages_.size()) messages_[i] = std::move(messages_.back());
    handles_.pop_back();
    messages_.pop_back();
  }
}

void in_flight::forget() {
  for (const wire::handle h : handles_) wire_.forget(h);
}

}  // namespace plaq::comm
