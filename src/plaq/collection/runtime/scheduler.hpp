// Scheduler of a rank: the steps of its elements, as tasks.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "plaq/collection/runtime/directory.hpp"
#include "plaq/collection/runtime/element.hpp"
#include "plaq/collection/runtime/failure.hpp"
#include "plaq/collection/runtime/termination.hpp"
#include "plaq/task/pool.hpp"

namespace plaq::elements {

/// Steps that the driver of this rank has issued, and their execution. An element begins a step when it has ended the
/// previous one and the messages of the step have arrived.
class scheduler {
 public:
  /// `ended` is called in the task of a step that has run, with the element still running. It gives the element away,
  /// or returns true: the element goes on.
  scheduler(const element_type& type, int rank, task::detail::pool_base& pool, directory& all, termination& end,
            failure_state& failure, std::function<bool(running_step&)> ended);

  /// Appends a step, and begins it for elements that wait for it.
  void issue(std::unique_ptr<step> next);
  /// Number of steps so far.
  step_number issued() const { return issued_; }
  /// Sets the number of steps, of a checkpoint. @pre No step was issued.
  void restart_at(step_number steps);
  /// Drops steps that all elements of all ranks have done: those before `done`. The last step stays, which the next one
  /// is numbered by and appended to: a rank without elements may receive the result of a reduction before its driver
  /// has issued that step.
  void forget_steps(step_number done);

  /// Begins the next step of a running element that has nothing to do, or leaves that to the arrival of what is
  /// missing.
  void advance(element& e) {
    if (is_ready(e)) start(e);
  }
  /// Begins with the step `e.next_step`: of an element that has just been inserted.
  void begin(element& e);
  /// Adds a message to the inbox. Returns whether the element can begin: what it waits for is complete, or there is a
  /// handler to run and the element is between two steps. Then the element is running,
  /// and the caller calls start(). With the lock of the element's shard. Throws runtime_error for a message too many.
  bool accept(element& e, std::unique_ptr<message> what);
  /// Runs the awaited step, or the handlers where there is none, as a task.
  void start(element& e);

  /// Adds a handler. Elements that have messages to it already begin with them.
  void add_handler(handler what);
  /// Name of a port, for errors.
  void name_port(int port, std::string name);
  /// Message for which an element waits, in words: "cells (3, 1) waits, to begin step 2 'mix': 0 of 4 messages of
  /// 'halo'". With the lock of the element's shard.
  std::string describe_wait(const element& e) const;

 private:
  class step_job;
  bool is_ready(element& e);
  bool has_call(const element& e) const;
  element& first_called();
  void run_steps(element& e);
  void run_calls(element& e);
  template <class What, class Work>
  void measured(element& e, What what, Work work);
  bool run(element& e);
  void take_messages(element& e);
  step* step_before(step_number next);
  std::string describe(const element& e, const step& now) const;
  std::string port_name(int port) const;
  [[noreturn]] void refuse_extra(const element& e, const message& what) const;

  const element_type& type_;
  const int rank_;
  task::detail::pool_base& pool_;
  directory& directory_;
  termination& termination_;
  failure_state& failure_;
  const std::function<bool(running_step&)> ended_;

  step front_{.name = "front"};
  mutable task::detail::spin_lock guard_;    ///< of what follows
  std::deque<std::unique_ptr<step>> steps_;  ///< that some element may still have to do
  std::vector<std::string> ports_;
  std::deque<handler> handlers_;
  std::atomic<int> handler_count_{0};
  /// Elements that begin with a message to a handler: of the highest priority first, then the earliest.
  struct called_element {
    step_number priority;
    std::uint64_t number;
    element* which;
    bool operator<(const called_element& other) const {
      return priority != other.priority ? priority < other.priority : number > other.number;
    }
  };
  std::priority_queue<called_element> called_;
  std::uint64_t calls_begun_ = 0;
  std::atomic<step_number> issued_{0};
};

}  // namespace plaq::elements
