#include "plaq/comm/schedules/schedule_runner.hpp"

namespace plaq::comm {

void schedule_runner::begin(const schedule& todo, executor& by) {
  todo_ = &todo;
  by_ = &by;
  steps_ = todo.steps.size();
  started_ = complete_ = 0;
  waits_for_ = todo.waits_for;
  ready_.clear();
  for (std::uint32_t i = 0; i < steps_; ++i)
    if (waits_for_[i] == 0) ready_.push_back(i);
}

void schedule_runner::start_ready() {
  // Starting one step can make others ready, which join the end.
  while (started_ < ready_.size()) {
    const auto number = ready_[started_++];
    for (auto e = todo_->edge_begin[number]; e < todo_->edge_begin[number + 1]; ++e)
      if (const auto edge = todo_->edges[e]; edge.only_begun && --waits_for_[edge.later] == 0)
        ready_.push_back(edge.later);
    if (by_->start(number, todo_->steps[number])) mark_complete(number);
  }
}

void schedule_runner::mark_complete(std::uint32_t number) {
  ++complete_;
  for (auto e = todo_->edge_begin[number]; e < todo_->edge_begin[number + 1]; ++e)
    if (const auto edge = todo_->edges[e]; !edge.only_begun && --waits_for_[edge.later] == 0)
      ready_.push_back(edge.later);
}

bool schedule_runner::progress() {
  for (;;) {
    start_ready();
    if (done()) return true;
    finished_.clear();
    by_->finished(finished_);
    if (finished_.empty()) return false;
    for (const auto number : finished_) mark_complete(number);
  }
}

}  // namespace plaq::comm
