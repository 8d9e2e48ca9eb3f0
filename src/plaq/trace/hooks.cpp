#include "plaq/trace/hooks.hpp"

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "plaq/trace/recorder.hpp"

namespace plaq::trace {

namespace detail {

std::atomic<unsigned> audience{none};

namespace {

std::atomic<listener*> installed{nullptr};

// Each thread publishes the listener that it is calling, so that set_listener can wait until none calls the old one.
struct reader;
std::mutex readers_lock;
std::vector<reader*> readers;

struct reader {
  std::atomic<listener*> inside{nullptr};
  reader() {
    std::lock_guard lock(readers_lock);
    readers.push_back(this);
  }
  ~reader() {
    std::lock_guard lock(readers_lock);
    std::erase(readers, this);
  }
};

template <class Call>
void notify(Call call) noexcept {
  thread_local reader mine;
  listener* target = installed.load();
  for (;;) {
    mine.inside.store(target);
    listener* now = installed.load();
    if (now == target) break;
    target = now;
  }
  if (target) call(*target);
  mine.inside.store(nullptr, std::memory_order_release);
}

template <class Record, class Call>
void announce(Record record, Call call) noexcept {
  const unsigned receivers = audience.load(std::memory_order_relaxed);
  if (receivers & to_session) record();
  if (receivers & to_listener) notify(call);
}

}  // namespace

void created(std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept {
  announce([=] { recorder::created(id, parent, name); }, [=](listener& l) { l.created(id, parent, name); });
}
void started(std::uint64_t id, int worker) noexcept {
  announce([=] { recorder::has_worker(event::started, id, worker); }, [=](listener& l) { l.started(id, worker); });
}
void suspended(std::uint64_t id) noexcept {
  announce([=] { recorder::has_none(event::suspended, id); }, [=](listener& l) { l.suspended(id); });
}
void ready(std::uint64_t id) noexcept {
  announce([=] { recorder::ready(id); }, [=](listener& l) { l.ready(id); });
}
void resumed(std::uint64_t id, int worker) noexcept {
  announce([=] { recorder::has_worker(event::resumed, id, worker); }, [=](listener& l) { l.resumed(id, worker); });
}
void finished(std::uint64_t id) noexcept {
  announce([=] { recorder::has_none(event::finished, id); }, [=](listener& l) { l.finished(id); });
}
void linked(std::uint64_t from, std::uint64_t to) noexcept {
  if (from && to) announce([=] { recorder::linked(from, to); }, [=](listener& l) { l.linked(from, to); });
}

}  // namespace detail

listener* set_listener(listener* next) {
  std::lock_guard lock(detail::readers_lock);
  listener* before = detail::installed.exchange(next);
  if (next)
    detail::audience.fetch_or(detail::to_listener);
  else
    detail::audience.fetch_and(~unsigned(detail::to_listener));
  if (before && before != next)
    for (detail::reader* r : detail::readers)
      while (r->inside.load() == before) std::this_thread::yield();
  return before;
}

}  // namespace plaq::trace
