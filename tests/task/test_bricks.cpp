// What the words of tasks are built on, each by itself: lists of waiters, gates, timers, stacks and what runs on
// them, meters.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/task/coroutine.hpp"
#include "plaq/task/exception_state.hpp"
#include "plaq/task/gate.hpp"
#include "plaq/task/meter.hpp"
#include "plaq/task/os.hpp"
#include "plaq/task/timer.hpp"
#include "plaq/task/waiter.hpp"
#include "plaq/trace/counters.hpp"

namespace plaq::task::detail {
namespace {

using namespace std::chrono_literals;

TEST(WaiterList, IsAListFromWhichAnyoneCanLeave) {
  std::mt19937 random(9);
  std::deque<waiter> all(12);
  waiter_list list;
  std::list<waiter*> model;
  int left_from_the_middle = 0, from_the_end = 0;
  for (int step = 0; step < 5000; ++step) {
    waiter& one = all[random() % all.size()];
    const auto at = std::ranges::find(model, &one);
    switch (random() % 4) {
      case 0:
        ASSERT_EQ(list.pop(), model.empty() ? nullptr : model.front());
        if (!model.empty()) model.pop_front();
        break;
      case 1:
        ASSERT_EQ(list.remove(one), at != model.end());
        if (at == model.end()) break;
        left_from_the_middle += at != model.begin() && std::next(at) != model.end();
        from_the_end += at != model.begin() && std::next(at) == model.end();
        model.erase(at);
        break;
      default:
        if (at != model.end()) break;
        list.push(one);
        model.push_back(&one);
    }
    ASSERT_EQ(list.empty(), model.empty());
  }
  EXPECT_GT(left_from_the_middle, 100);
  EXPECT_GT(from_the_end, 50);
  while (waiter* w = list.pop()) {
    ASSERT_EQ(w, model.front());
    model.pop_front();
  }
  EXPECT_TRUE(model.empty());
}

TEST(SpinLock, LetsOneIn) {
  spin_lock lock;
  EXPECT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  long count = 0;  // not atomic: the lock is what makes it right
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          if (i % 3 || !lock.try_lock()) lock.lock();
          ++count;
          lock.unlock();
        }
      });
  }
  EXPECT_EQ(count, 20000);
}

TEST(Gate, LetsOnePassForHoweverManyOpenings) {
  gate g;
  EXPECT_FALSE(g.try_wait());
  EXPECT_FALSE(g.wait_until(clock::now() - 1s)) << "a deadline that has passed";
  EXPECT_FALSE(g.wait_until(clock::now() + 1ms));
  g.open();
  g.open();
  EXPECT_TRUE(g.try_wait());
  EXPECT_FALSE(g.try_wait()) << "it has closed after one has passed";
  g.open();
  EXPECT_TRUE(g.wait_until(clock::now() - 1s)) << "open is open, however late";
  g.open();
  g.wait();
  EXPECT_FALSE(g.try_wait());
  for (int i = 0; i < 500; ++i) {  // a thread that has passed may destroy it
    auto fresh = std::make_unique<gate>();
    std::jthread opener([&g = *fresh] { g.open(); });
    fresh->wait();
    fresh.reset();
  }
}

TEST(Waiter, IsWokenBeforeOrAfterItSleeps) {
  waiter early;
  early.wake();
  early.wake();
  early.wait();
  early.wait_until(clock::time_point::max());
  for (int i = 0; i < 200; ++i) {
    waiter self;
    std::jthread other([&] { self.wake(); });
    self.wait();
    other.join();
  }
}

// The gate belongs to the thread: what an earlier wait has left must not end a later one.
TEST(Waiter, LeavesNothingToTheNextOfItsThread) {
  for (int i = 0; i < 300; ++i) {
    waiter first;
    std::jthread waker([&] { first.wake(); });
    first.wait_until(clock::now() + std::chrono::microseconds(i % 40));
    waker.join();
    waiter second;
    std::atomic<bool> woken{false};
    std::jthread later([&] {
      woken = true;
      second.wake();
    });
    second.wait();
    EXPECT_TRUE(woken);
    later.join();
  }
}

TEST(Timer, WakesEveryWaiterAtItsDeadlineAndNoneThatHasLeft) {
  timer alarm;
  std::vector<std::jthread> threads;
  std::atomic<int> early{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(unsigned(40 + t));
      for (int i = 0; i < 50; ++i) {
        const auto deadline = clock::now() + std::chrono::microseconds(random() % 400);
        waiter self;
        alarm.add(deadline, self);
        if (random() % 2) {
          self.wait();
          early += clock::now() < deadline;
        }
        alarm.remove(deadline, self);  // and self is gone
      }
    });
  threads.clear();
  EXPECT_EQ(early, 0);
}

TEST(Timer, WakesThoseOfOneDeadlineAndThoseBeforeTheOneItWaitsFor) {
  timer alarm;
  waiter far, one, other, past;
  const auto hour = clock::now() + 1h, soon = clock::now() + 2ms;
  alarm.add(hour, far);
  alarm.add(soon, one);
  alarm.add(soon, other);
  one.wait();
  other.wait();
  EXPECT_GE(clock::now(), soon);
  alarm.add(clock::now() - 1h, past);
  past.wait();
  alarm.remove(hour, far);
  alarm.remove(hour, far);  // not there any more
}

TEST(Timer, MayEndWhileSomebodyIsInIt) {
  waiter never;
  for (int i = 0; i < 20; ++i) {
    timer alarm;
    alarm.add(clock::now() + 1h, never);
  }
}

TEST(Stack, IsWholePagesAboveAGuard) {
  for (const std::size_t bytes : {std::size_t(1), std::size_t(4096), std::size_t(4097), std::size_t(1) << 20}) {
    const stack s(bytes);
    EXPECT_GE(s.size(), bytes);
    EXPECT_LT(s.size(), bytes + 65536 + 1) << "up to a page more";
    EXPECT_EQ(s.top() - s.bottom(), std::ptrdiff_t(s.size()));
    s.bottom()[0] = 1;
    s.top()[-1] = 2;
    EXPECT_FALSE(s.guards(s.bottom()));
    EXPECT_TRUE(s.guards(s.bottom() - 1));
    EXPECT_TRUE(s.guards(s.bottom() - stack::guard));
    EXPECT_FALSE(s.guards(s.bottom() - stack::guard - 1));
    EXPECT_FALSE(s.guards(s.top()));
    EXPECT_FALSE(s.guards(nullptr));
  }
}

TEST(Stack, ThatDoesNotFitSaysHowLargeItWas) {
  try {
    const stack s(std::size_t(1) << 60);
    FAIL();
  } catch (const runtime_failure& e) {
    EXPECT_NE(std::string(e.what()).find("no stack of 1152921504606846976 bytes for a task: "), std::string::npos);
  }
}

/// A coroutine that repeats its work.
struct puppet {
  using play = void (*)(puppet&, coroutine&);
  explicit puppet(play p) : what(p) {}
  play what;
  std::vector<int> record;
  coroutine on{64 * 1024, [](coroutine& self) {
                 puppet& me = *current_puppet;
                 me.what(me, self);
               }};
  void enter() {
    current_puppet = this;
    on.enter();
  }
  static thread_local puppet* current_puppet;
};
thread_local puppet* puppet::current_puppet = nullptr;

TEST(Coroutine, GoesOnWhereItLeftAndBeginsAgainWhenItHasEnded) {
  puppet p([](puppet& me, coroutine& self) {
    for (int i = 0; i < 3; ++i) {
      me.record.push_back(i);
      self.leave();
    }
    me.record.push_back(99);
  });
  for (int i = 0; i < 5; ++i) {
    p.enter();
    p.record.push_back(-1);
  }
  EXPECT_EQ(p.record, (std::vector{0, -1, 1, -1, 2, -1, 99, -1, 0, -1}));
  for (int i = 0; i < 3; ++i) p.enter();  // to its end: what is on a stack that goes is not destroyed
  EXPECT_EQ(p.record.back(), 99);
}

TEST(Coroutine, GoesOnOnAnyThread) {
  puppet p([](puppet& me, coroutine& self) {
    std::string own = "on the stack, too long for a short string";
    for (int i = 0; i < 8; ++i) {
      own += char('a' + i);
      self.leave();
    }
    me.record.assign(own.begin() + 41, own.end());
  });
  for (int i = 0; i < 9; ++i) std::thread([&] { p.enter(); }).join();
  EXPECT_EQ(std::string(p.record.begin(), p.record.end()), "abcdefgh");
}

/// Returns the sum of numbers that lie, meanwhile, in registers which functions preserve, as far as there are any.
template <class T, class Switch>
[[gnu::noinline]] T sum_after(Switch to_the_other, T a, T b, T c, T d, T e, T f, T g, T h) {
  to_the_other();
  return ((a + b) + (c + d)) + ((e + f) + (g + h));
}
template <class T>
void expect_kept_numbers() {
  static constexpr auto sum = [](auto to_the_other, double x) {
    const T t = T{} + x;
    return sum_after<T>(to_the_other, t, t + 1., t + 2., t + 3., t + 4., t + 5., t + 6., t + 7.);
  };
  static constexpr auto expect = [](T found, double x) {
    double lanes[sizeof(T) / sizeof(double)];
    std::memcpy(lanes, &found, sizeof lanes);
    for (const double lane : lanes) EXPECT_EQ(lane, 8 * x + 28);
  };
  puppet p([](puppet&, coroutine& self) {
    for (double x = 1000;; x += 1000) expect(sum([&] { self.leave(); }, x), x);
  });
  for (double x = 1; x < 9; ++x) expect(sum([&] { p.enter(); }, x), x);
}
TEST(Coroutine, KeepsNumbersInRegisters) {
  expect_kept_numbers<double>();
  typedef double pair __attribute__((vector_size(16)));
  expect_kept_numbers<pair>();
}

TEST(Coroutine, HandlesItsExceptionsWhileOthersHandleTheirs) {
  puppet p([](puppet& me, coroutine& self) {
    try {
      throw 7;
    } catch (int) {
      self.leave();  // in the middle of the handler
      try {
        throw;
      } catch (int mine) {
        me.record.push_back(mine);
      }
    }
    me.record.push_back(std::current_exception() == nullptr);
  });
  try {
    throw 3;
  } catch (int) {
    p.enter();
    try {
      throw;
    } catch (int mine) {
      EXPECT_EQ(mine, 3);
    }
  }
  EXPECT_EQ(std::current_exception(), nullptr);
  try {
    throw 4;
  } catch (int) {
    p.enter();
    EXPECT_NE(std::current_exception(), nullptr);
  }
  EXPECT_EQ(p.record, (std::vector{7, 1}));
}

TEST(Caught, ExchangesWhatAThreadIsHandling) {
  try {
    throw 5;
  } catch (int) {
    const exception_state saved = exception_state::exchange({});
    EXPECT_EQ(std::current_exception(), nullptr);
    EXPECT_NE(saved.handled, nullptr);
    EXPECT_EQ(exception_state::exchange(saved).handled, nullptr);
    EXPECT_THROW(throw, int);
  }
}

TEST(Meter, CountsAlwaysAndTakesTheTimeWhereAsked) {
  meter m;
  m.enter();
  m.leave();
  m.stole();
  EXPECT_EQ(m.read().switches, 1u);
  EXPECT_EQ(m.read().steals, 1u);
  EXPECT_EQ(m.read().busy_ns, 0u);
  m.enter();
  {
    const timed_workers from_now_on;
    m.leave();
    EXPECT_EQ(m.read().busy_ns, 0u) << "of what began before, nothing";
    m.enter();
    std::this_thread::sleep_for(1ms);
    EXPECT_GE(m.read().busy_ns, 1'000'000u) << "also of what still runs";
  }
  std::this_thread::sleep_for(1ms);
  m.leave();
  const auto last = m.read().busy_ns;
  EXPECT_GE(last, 2'000'000u) << "what began under the clock ends under it";
  std::this_thread::sleep_for(1ms);
  EXPECT_EQ(m.read().busy_ns, last);
  const timed_workers one, two;
  for (int i = 0; i < 100; ++i) {
    m.enter();
    m.leave();
  }
  EXPECT_GE(m.read().busy_ns, last);
  EXPECT_EQ(m.read().switches, 103u);
}

TEST(Meter, OfPoolsThatHaveEndedIsKept) {
  const auto switches = [] {
    std::uint64_t sum = 0;
    for (const auto& w : ended_pools()) sum += w.switches;
    return sum;
  };
  const auto before = switches();
  const double seen = [] {
    os::pool first({.workers = 1});
    first.async("one", [] {}).get();
    return trace::read_counter("task switches");
  }();
  {
    os::pool pool({.workers = 2});
    for (int i = 0; i < 50; ++i) pool.async("one", [] {}).get();
  }
  EXPECT_GE(switches(), before + 51);
  EXPECT_GE(trace::read_counter("task switches"), seen + 50) << "a session that looks later sees them too";
  EXPECT_EQ(trace::read_counter("tasks"), 0);
  EXPECT_EQ(trace::read_counter("queue length"), 0);
  EXPECT_EQ(trace::read_counter("queue length of worker"), 0);
}

}  // namespace
}  // namespace plaq::task::detail
