#include "plaq/task/coroutine.hpp"

#include "plaq/task/overflow.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace plaq::task::detail {

namespace bc = boost::context::detail;

namespace {

/// Switches to another stack. On POWER, Boost's switch drops the floating-point and vector registers that a function
/// has to preserve. So the compiler is told that they change: it saves them on this stack, around the switch.
[[gnu::always_inline]] inline bc::transfer_t jump(bc::fcontext_t to, void* data) {
#if defined(__powerpc64__)
  asm volatile(""
               :
               :
               : "fr14", "fr15", "fr16", "fr17", "fr18", "fr19", "fr20", "fr21", "fr22", "fr23", "fr24", "fr25", "fr26",
                 "fr27", "fr28", "fr29", "fr30", "fr31", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                 "v29", "v30", "v31");
#endif
  return bc::jump_fcontext(to, data);
}

}  // namespace

coroutine::coroutine(std::size_t stack_size, void (*work)(coroutine&))
    : stack_(stack_size), work_(work), inside_(bc::make_fcontext(stack_.top(), stack_.size(), run)), outside_(nullptr) {
#if defined(__SANITIZE_THREAD__)
  watched_.thread = __tsan_create_fiber(0);
#endif
}

coroutine::~coroutine() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(watched_.thread);
#endif
}

void coroutine::run(bc::transfer_t from) {
  auto& self = *static_cast<coroutine*>(from.data);
  self.outside_ = from.fctx;
  self.after_leave();
  for (;;) {
    self.work_(self);
    self.leave();
  }
}

void coroutine::enter() {
  const exception_state own = exception_state::exchange(exceptions_);
  void* frames = nullptr;
  before_enter(frames);
  runs_on(&stack_);
  inside_ = jump(inside_, this).fctx;
  runs_on(nullptr);
  after_enter(frames);
  exceptions_ = exception_state::exchange(own);
}

void coroutine::leave() {
  before_leave();
  outside_ = jump(outside_, nullptr).fctx;
  after_leave();
}

#if defined(__SANITIZE_ADDRESS__)

void coroutine::before_enter(void*& frames) { __sanitizer_start_switch_fiber(&frames, stack_.bottom(), stack_.size()); }
void coroutine::after_enter(void* frames) { __sanitizer_finish_switch_fiber(frames, nullptr, nullptr); }
void coroutine::before_leave() { __sanitizer_start_switch_fiber(&watched_.frames, watched_.bottom, watched_.size); }
void coroutine::after_leave() { __sanitizer_finish_switch_fiber(watched_.frames, &watched_.bottom, &watched_.size); }

#elif defined(__SANITIZE_THREAD__)

void coroutine::before_enter(void*&) {
  watched_.back = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(watched_.thread, 0);
}
void coroutine::after_enter(void*) {}
void coroutine::before_leave() { __tsan_switch_to_fiber(watched_.back, 0); }
void coroutine::after_leave() {}

#else

void coroutine::before_enter(void*&) {}
void coroutine::after_enter(void*) {}
void coroutine::before_leave() {}
void coroutine::after_leave() {}

#endif

}  // namespace plaq::task::detail
