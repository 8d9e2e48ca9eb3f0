// Stack that runs one function after another and can stop anywhere in between.
#pragma once
#include <boost/context/detail/fcontext.hpp>

#include "plaq/task/exception_state.hpp"
#include "plaq/task/stack.hpp"

namespace plaq::task::detail {

class coroutine {
 public:
  /// Makes a coroutine that calls work() again in each enter() after its return.
  coroutine(std::size_t stack_size, void (*work)(coroutine&));
  ~coroutine();
  coroutine(const coroutine&) = delete;

  /// Runs until the next leave() or the end of work(). Any thread may do so, one at a time.
  void enter();
  /// Leaves the stack; to be called on it. Returns in the next enter().
  void leave();

 private:
  static void run(boost::context::detail::transfer_t from);

  // Information on a switch for the sanitizers.
  struct watched {
    void* frames = nullptr;        // address: fake stack
    const void* bottom = nullptr;  // address: where control comes from
    std::size_t size = 0;
    void* thread = nullptr;  // thread: its name of this stack
    void* back = nullptr;    // thread: its name of the stack that entered
  };
  void before_enter(void*& frames);
  void after_enter(void* frames);
  void before_leave();
  void after_leave();

  stack stack_;
  void (*work_)(coroutine&);
  boost::context::detail::fcontext_t inside_;   // where to resume
  boost::context::detail::fcontext_t outside_;  // the stack that entered
  exception_state exceptions_;
  watched watched_;
};

}  // namespace plaq::task::detail
