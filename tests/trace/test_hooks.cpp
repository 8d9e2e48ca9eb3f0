#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "plaq/trace/hooks.hpp"

namespace plaq::trace {

namespace {

struct counting : listener {
  void created(std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept override {
    log.append("c").append(std::to_string(id)).append("<").append(std::to_string(parent)).append(name);
  }
  void started(std::uint64_t id, int worker) noexcept override {
    log += " s" + std::to_string(id) + "@" + std::to_string(worker);
  }
  void suspended(std::uint64_t id) noexcept override { log += " w" + std::to_string(id); }
  void ready(std::uint64_t id) noexcept override { log += " k" + std::to_string(id); }
  void resumed(std::uint64_t id, int worker) noexcept override {
    log += " r" + std::to_string(id) + "@" + std::to_string(worker);
  }
  void finished(std::uint64_t id) noexcept override { log += " f" + std::to_string(id); }
  void linked(std::uint64_t from, std::uint64_t to) noexcept override {
    log += " " + std::to_string(from) + ">" + std::to_string(to);
  }
  std::string log;
};

/// Every call reads and writes memory that goes with the object.
struct fragile : listener {
  void created(std::uint64_t, std::uint64_t, std::string_view) noexcept override { ++*calls; }
  void started(std::uint64_t, int) noexcept override { ++*calls; }
  void suspended(std::uint64_t) noexcept override { ++*calls; }
  void ready(std::uint64_t) noexcept override { ++*calls; }
  void resumed(std::uint64_t, int) noexcept override { ++*calls; }
  void finished(std::uint64_t) noexcept override { ++*calls; }
  void linked(std::uint64_t, std::uint64_t) noexcept override { ++*calls; }
  std::unique_ptr<std::atomic<long>> calls = std::make_unique<std::atomic<long>>(0);
};

void tell_all() {
  created(7, 3, "name");
  started(7, 1);
  suspended(7);
  ready(7);
  resumed(7, 0);
  finished(7);
  linked(7, 8);
  linked(7, 0);
  linked(0, 8);
}

}  // namespace

TEST(Hooks, ReachTheListenerOnlyWhileItIsSet) {
  counting received;
  tell_all();
  EXPECT_EQ(set_listener(&received), nullptr);
  tell_all();
  counting other;
  EXPECT_EQ(set_listener(&other), &received);
  finished(9);
  EXPECT_EQ(set_listener(nullptr), &other);
  tell_all();
  EXPECT_EQ(received.log, "c7<3name s7@1 w7 k7 r7@0 f7 7>8");
  EXPECT_EQ(other.log, " f9");
}

TEST(Hooks, ListenerMayBeDestroyedOnceItIsReplaced) {
  std::atomic<bool> stop{false};
  long received = 0;
  {
    std::vector<std::jthread> tellers;
    for (int t = 0; t < 4; ++t)
      tellers.emplace_back([&] {
        while (!stop) tell_all();
      });
    for (int i = 0; i < 300; ++i) {
      auto next = std::make_unique<fragile>();
      set_listener(next.get());
      while (next->calls->load() == 0) std::this_thread::yield();
      set_listener(nullptr);
      received += next->calls->load();
    }
    stop = true;
  }
  EXPECT_GE(received, 300);
}

}  // namespace plaq::trace
