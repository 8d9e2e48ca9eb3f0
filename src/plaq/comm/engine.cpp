#include "plaq/comm/engine.hpp"

#include <cstring>

namespace plaq::comm {

void engine::begin(const schedule& todo, executor& by) {
  todo_ = &todo;
  by_ = &by;
  steps_ = todo.steps.size();
  started_ = complete_ = 0;
  waits_for_ = todo.waits_for;
  ready_.clear();
  for (std::uint32_t i = 0; i < steps_; ++i)
    if (waits_for_[i] == 0) ready_.push_back(i);
}

void engine::start_ready() {
  // Starting one step can make others ready, which join the end.
  while (started_ < ready_.size()) {
    const auto number = ready_[started_++];
    for (auto e = todo_->edge_begin[number]; e < todo_->edge_begin[number + 1]; ++e)
      if (const auto edge = todo_->edges[e]; edge.only_begun && --waits_for_[edge.later] == 0)
        ready_.push_back(edge.later);
    if (by_->start(number, todo_->steps[number])) mark_complete(number);
  }
}

void engine::mark_complete(std::uint32_t number) {
  ++complete_;
  for (auto e = todo_->edge_begin[number]; e < todo_->edge_begin[number + 1]; ++e)
    if (const auto edge = todo_->edges[e]; !edge.only_begun && --waits_for_[edge.later] == 0)
      ready_.push_back(edge.later);
}

bool engine::progress(bool wait) {
  for (;;) {
    start_ready();
    if (done()) return true;
    finished_.clear();
    by_->finished(finished_, wait);
    if (finished_.empty()) return false;
    for (const auto number : finished_) mark_complete(number);
  }
}

bool byte_executor::start(std::uint32_t number, const step& s) {
  switch (s.what) {
    case step::kind::send:
      through_.send({read(s.from), s.size}, s.peer, tag_, number);
      return false;
    case step::kind::receive:
      through_.receive({write(s.to), s.size}, s.peer, tag_, number);
      return false;
    case step::kind::copy:
      std::memcpy(write(s.to), read(s.from), s.size);
      return true;
    case step::kind::combine:
      combine_(write(s.to), read(s.from), read(s.right), s.size);
      return true;
  }
  return true;
}

const std::byte* byte_executor::read(region r) const {
  return (r.where == memory::input ? at_.input : r.where == memory::output ? at_.output : at_.scratch) + r.offset;
}

std::byte* byte_executor::write(region r) const {
  return (r.where == memory::output ? at_.output : at_.scratch) + r.offset;
}

}  // namespace plaq::comm
