#include "plaq/comm/collectives/byte_executor.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/trace/messages.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::comm {

namespace {
constexpr std::size_t worth_a_region = 64 * 1024;  // bytes: some 10 us
constexpr std::size_t tested_at_once = 4096;       // bytes: an early test of longer messages may cost a time slice
}  // namespace

byte_executor::~byte_executor() {
  // Messages are left only after an error. A receive can be cancelled, a send cannot.
  for (std::size_t i = 0; i < handles_.size(); ++i)
    messages_[i].what->what == step::action::receive ? wire_.cancel(handles_[i]) : wire_.forget(handles_[i]);
}

void byte_executor::begin(int tag, const buffers& at, const combination& combine) {
  tag_ = tag;
  at_ = at;
  combine_ = &combine;
  sent_.clear();
  expected_.clear();
}

bool byte_executor::start(std::uint32_t number, const step& s) {
  switch (s.what) {
    case step::action::send:
    case step::action::receive:
      try {
        const bool sends = s.what == step::action::send;
        const blocks bytes{at(sends ? s.from : s.to), s.size};
        const std::uint32_t in_order = trace::recording() ? (sends ? sent_ : expected_)[s.peer]++ : 0;
        if (sends) trace::message_sent({wire_.number(), wire_.rank(), s.peer, tag_, in_order}, s.size);
        auto handle = sends ? wire_.send(bytes, s.peer, tag_) : wire_.receive(bytes, s.peer, tag_);
        if (sends && s.size < tested_at_once && is_sent(handle)) return true;
        handles_.push_back(handle);
        messages_.push_back({number, &s, in_order});
      } catch (const std::exception& e) {
        fail(s, e.what());
      }
      return false;
    case step::action::copy:
      try {
        const wire::handle h = wire_.copy({at(s.from), s.size}, {at(s.to), s.size});
        if (h == wire::nothing) return true;
        handles_.push_back(h);
        messages_.push_back({number, &s, 0});
      } catch (const std::exception& e) {
        fail(s, e.what());
      }
      return false;
    case step::action::combine: {
      const trace::region part("combine", s.size >= worth_a_region);
      (*combine_)(at(s.to), at(s.from), at(s.right), s.size);
      return true;
    }
  }
  return true;
}

/// Returns whether a send is complete already, so that it is not tested again.
bool byte_executor::is_sent(wire::handle& handle) {
  ends_.clear();
  wire_.test({&handle, 1}, ends_);
  if (ends_.empty()) return false;
  if (!ends_[0].error.empty()) throw runtime_failure(ends_[0].error);
  return true;
}

void byte_executor::finished(std::vector<std::uint32_t>& numbers) {
  ends_.clear();
  wire_.test(handles_, ends_);
  std::ranges::sort(ends_, std::greater<>(), &wire::end::index);  // the last fill the gaps
  const step* failed = nullptr;
  std::string why;
  for (const auto& e : ends_) {
    const auto [number, what, in_order] = messages_[e.index];
    handles_[e.index] = handles_.back();
    messages_[e.index] = messages_.back();
    handles_.pop_back();
    messages_.pop_back();
    numbers.push_back(number);
    const bool received = what->what == step::action::receive;
    if (received && e.error.empty())
      trace::message_received({wire_.number(), what->peer, wire_.rank(), tag_, in_order}, e.bytes);
    if (e.error.empty() && (!received || e.bytes == what->size)) continue;
    failed = what;
    why = e.error;
    if (why.empty()) why = "expected " + std::to_string(what->size) + " bytes and got " + std::to_string(e.bytes);
  }
  if (failed) fail(*failed, why);
}

open_messages byte_executor::open() const {
  open_messages out;
  for (const auto& m : messages_) (m.what->what == step::action::send ? out.to : out.from).insert(m.what->peer);
  return out;
}

void byte_executor::fail(const step& s, const std::string& why) const {
  const std::string peer = std::to_string(s.peer);
  throw runtime_failure("rank " + std::to_string(wire_.rank()) +
                        (s.what == step::action::send      ? ": send to rank " + peer
                         : s.what == step::action::receive ? ": receive from rank " + peer
                                                           : ": copy") +
                        ": " + why);
}

std::byte* byte_executor::at(location r) const {
  // Schedules never write their input.
  return (r.where == memory::input    ? const_cast<std::byte*>(at_.input)
          : r.where == memory::output ? at_.output
                                      : at_.scratch) +
         r.offset;
}

}  // namespace plaq::comm
