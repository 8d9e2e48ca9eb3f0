#include "plaq/task/overflow.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace plaq::task::detail {

namespace {

// Found without a call, for a signal may come inside of malloc.
[[gnu::tls_model("initial-exec")]] thread_local const stack* in_use = nullptr;

struct sigaction before;

/// Reports the overflow, with calls that a signal handler may make.
void name_overflow(const stack& full) noexcept {
  char line[160], *end = line;
  const auto add = [&](std::string_view text) { end = std::copy(text.begin(), text.end(), end); };
  add("plaq: a task overflowed its stack of ");
  end = std::to_chars(end, line + sizeof line, full.size() / 1024).ptr;
  add(" KiB, and the process ends; options::stack_size of its pool sets how large stacks are\n");
  (void)!write(STDERR_FILENO, line, static_cast<std::size_t>(end - line));
}

void on_fault(int signal, siginfo_t* info, void*) noexcept {
  const bool sent = info->si_code <= 0;  // by kill(), from nowhere in memory
  if (in_use && !sent && in_use->guards(info->si_addr)) name_overflow(*in_use);
  sigaction(signal, &before, nullptr);
  if (sent) raise(signal);
}

bool install() noexcept {
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  return sigaction(SIGSEGV, &ours, &before) == 0;
}

}  // namespace

void runs_on(const stack* now) noexcept { in_use = now; }

overflow_watch::overflow_watch() {
  [[maybe_unused]] static const bool once = install();
  sigaltstack(nullptr, &before_);
  if (!(before_.ss_flags & SS_DISABLE)) return;  // it has one, from a sanitizer
  constexpr std::size_t size = 64 * 1024;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(size);
  stack_t own{};
  own.ss_sp = memory_.get();
  own.ss_size = size;
  sigaltstack(&own, nullptr);
}

overflow_watch::~overflow_watch() {
  if (memory_) sigaltstack(&before_, nullptr);
}

}  // namespace plaq::task::detail
