// What a session writes, record by record.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "plaq/trace/counters.hpp"
#include "plaq/trace/region.hpp"
#include "plaq/trace/session.hpp"
#include "rank_file.hpp"

namespace plaq::trace::detail {
namespace {

using namespace std::chrono_literals;

struct Recorded : with_folder {
  session_options options() {
    session_options o;
    o.folder = folder / std::to_string(next_++);
    o.period = 1h;  // only what fills a ring, or the end, makes it write
    return o;
  }
  /// What is in the file of a session in which `program` runs.
  recorded of(const std::function<void()>& program, const session_options& o) {
    session s(o);
    program();
    s.close();
    EXPECT_EQ(s.problem(), "");
    EXPECT_EQ(head_of(s.path()), std::pair(std::string("closed"), std::to_string(bytes_of(s.path()).size())));
    return recorded(s.path());
  }
  recorded of(const std::function<void()>& program) { return of(program, options()); }

  int next_ = 0;
};

std::string quoted(const char* text) { return '"' + std::string(text) + '"'; }

TEST_F(Recorded, EveryEventWithAllThatItSays) {
  constexpr std::uint64_t most =
      (std::uint64_t(1) << worker_shift) - 1;  // the largest id that leaves room for a worker
  const auto r = of([] {
    created(most, 3, "job");
    started(most, 65535);
    suspended(most);
    ready(most);
    resumed(most, 0);
    finished(most);
    linked(most, 4);
    linked(most, 0);  // to no task
    linked(0, most);
  });
  struct expected {
    event kind;
    std::uint64_t subject, other;
  };
  const expected all[] = {{event::created, most, 3},   {event::started, most | std::uint64_t(65535) << worker_shift, 0},
                          {event::suspended, most, 0}, {event::ready, most, 0},
                          {event::resumed, most, 0},   {event::finished, most, 0},
                          {event::linked, most, 4}};
  ASSERT_EQ(r.events.size(), std::size(all));
  for (std::size_t i = 0; i < std::size(all); ++i) {
    EXPECT_EQ(r.events[i].kind, all[i].kind) << i;
    EXPECT_EQ(r.events[i].subject, all[i].subject) << i;
    EXPECT_EQ(r.events[i].other, all[i].other) << i;
  }
  EXPECT_EQ(r.names.at(r.events[0].number), quoted("job"));
  EXPECT_EQ(r.all_lost(), 0u);
}

TEST_F(Recorded, TimesGoForwardOnAThreadAndLieBetweenTheClocks) {
  const auto r = of([] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([t] {
        std::mt19937 random(unsigned(100 + t));
        for (int i = 0; i < 300; ++i) {
          const std::uint64_t id = 1 + random() % 1000;
          switch (random() % 3) {
            case 0: started(id, t); break;
            case 1: ready(id); break;
            default: linked(id, id + 1);
          }
        }
      });
  });
  ASSERT_GE(r.clocks.size(), 2u);
  for (std::size_t i = 1; i < r.clocks.size(); ++i) {
    EXPECT_GT(r.clocks[i].ticks, r.clocks[i - 1].ticks);
    EXPECT_GT(r.clocks[i].ns, r.clocks[i - 1].ns);
  }
  std::map<std::uint64_t, std::uint64_t> last;
  for (const auto& e : r.events) {
    EXPECT_GE(e.time, std::exchange(last[e.thread], e.time));
    EXPECT_GE(e.time, r.clocks.front().ticks & low_bits);
    EXPECT_LE(e.time, r.clocks.back().ticks & low_bits);
  }
  EXPECT_EQ(last.size(), 4u);
  EXPECT_EQ(r.events.size(), 1200u);
}

TEST_F(Recorded, ARegionKnowsTheTaskOfItsThread) {
  std::vector<std::uint64_t> ids;
  const auto keep = [&](const region& r) { ids.push_back(r.id()); };
  const auto r = of([&] {
    {
      region outside("outside");
      keep(outside);
    }
    started(5, 0);
    {
      region inside("inside");
      keep(inside);
    }
    suspended(5);
    {
      region between("between");
      keep(between);
    }
    resumed(5, 0);
    region whole("whole"), unwanted("unwanted", false);
    keep(whole);
    EXPECT_EQ(unwanted.id(), 0u);
    std::thread([] { region elsewhere("elsewhere"); }).join();
    finished(5);
  });
  std::map<std::string, std::uint64_t> task;
  std::map<std::uint64_t, int> open;
  std::vector<std::uint64_t> begun;
  for (const auto& e : r.events)
    if (e.kind == event::region_begin) {
      task[r.names.at(e.number)] = e.subject;
      EXPECT_EQ(open[e.other]++, 0) << "a number is given once";
      begun.push_back(e.other);
    } else if (e.kind == event::region_end) {
      EXPECT_EQ(--open.at(e.subject), 0) << "an end has its begin before it";
    }
  EXPECT_EQ(task, (std::map<std::string, std::uint64_t>{{quoted("outside"), 0},
                                                        {quoted("inside"), 5},
                                                        {quoted("between"), 0},
                                                        {quoted("whole"), 5},
                                                        {quoted("elsewhere"), 0}}));
  for (const auto id : ids) EXPECT_TRUE(open.contains(id));
  EXPECT_EQ(begun.size(), 5u);
}

TEST_F(Recorded, ARegionEndsOnAnotherThreadUnderItsNumber) {
  std::uint64_t number = 0;
  const auto r = of([&] {
    auto carried = std::make_unique<region>(label("carried"));
    number = carried->id();
    std::thread([&] { carried.reset(); }).join();
  });
  ASSERT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.events[0].kind, event::region_begin);
  EXPECT_EQ(r.events[0].other, number);
  EXPECT_EQ(r.events[1].kind, event::region_end);
  EXPECT_EQ(r.events[1].subject, number);
  EXPECT_NE(r.events[0].thread, r.events[1].thread);
}

TEST_F(Recorded, ARegionThatWasOpenBeforeIsNotSeenAndOneThatStaysOpenHasNoEnd) {
  std::unique_ptr<region> late;
  {
    region early("early");
    const auto r = of([&] {
      { region own("own"); }
      late = std::make_unique<region>(label("late"));
    });
    std::vector<event> kinds;
    for (const auto& e : r.events) kinds.push_back(e.kind);
    EXPECT_EQ(kinds, (std::vector{event::region_begin, event::region_end, event::region_begin}));
    EXPECT_EQ(early.id(), 0u);
  }
  const auto next = of([&] { late.reset(); });
  ASSERT_EQ(next.events.size(), 1u) << "the reader sees that it began elsewhere";
  EXPECT_EQ(next.events[0].kind, event::region_end);
}

TEST_F(Recorded, NumbersOfRegionsAreUniqueOverThreads) {
  const auto r = of([] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        for (int i = 0; i < 200; ++i) {
          region outer("outer");
          region inner("inner");
        }
      });
  });
  std::set<std::uint64_t> begun, ended;
  for (const auto& e : r.events)
    EXPECT_TRUE(e.kind == event::region_begin ? begun.insert(e.other).second : ended.insert(e.subject).second);
  EXPECT_EQ(begun.size(), 1600u);
  EXPECT_EQ(begun, ended);
}

TEST_F(Recorded, WhatIsToldIsEitherWrittenOrCounted) {
  auto o = options();
  o.ring_bytes = 1;  // as small as can be: eight records
  constexpr std::uint64_t sent = 20'000;
  const auto r = of(
      [] {
        std::thread([] {  // a thread that is new, so that its ring is small
          for (std::uint64_t i = 1; i <= sent; ++i)
            if (i % 2)
              linked(i, i);
            else
              ready(i);
        })
            .join();
      },
      o);
  EXPECT_EQ(r.events.size() + r.all_lost(), sent);
  EXPECT_GT(r.all_lost(), 0u) << "this was to be too fast";
  EXPECT_GE(r.events.size(), 4u);
  std::uint64_t last = 0;
  for (const auto& e : r.events) {
    EXPECT_GT(e.subject, last) << "what is kept is in order";
    EXPECT_EQ(e.kind, e.subject % 2 ? event::linked : event::ready);
    EXPECT_EQ(e.other, e.subject % 2 ? e.subject : 0) << "and whole";
    last = e.subject;
  }
}

TEST_F(Recorded, ARegionThatFoundNoRoomHasNoNumberAndNoEnd) {
  auto o = options();
  o.ring_bytes = 1;
  std::atomic<std::uint64_t> none{0}, some{0};
  const auto r = of(
      [&] {
        std::thread([&] {
          for (int i = 0; i < 5000; ++i) {
            region part("part");
            ++(part.id() ? some : none);
          }
        }).join();
      },
      o);
  const auto begun = std::ranges::count(r.events, event::region_begin, &recorded::event_found::kind);
  EXPECT_EQ(std::uint64_t(begun), some.load());
  EXPECT_EQ(some + none, 5000u);
  EXPECT_LE(std::uint64_t(std::ranges::count(r.events, event::region_end, &recorded::event_found::kind)), some.load());
}

TEST_F(Recorded, ASessionKnowsNothingOfTheOneBefore) {
  std::atomic<int> phase{0};
  std::thread worker([&] {  // lives through both, and the time between them
    ready(1);
    phase = 1, phase.notify_all();
    phase.wait(1);
    ready(2);
    phase = 3, phase.notify_all();
    phase.wait(3);
    ready(3);
    phase = 5, phase.notify_all();
  });
  const auto first = of([&] {
    phase.wait(0);
    started(10, 0);  // this thread has a task when the session ends
  });
  phase = 2, phase.notify_all();
  phase.wait(2);
  const auto second = of([&] {
    phase = 4, phase.notify_all();
    phase.wait(4);
    { region alone("alone"); }
  });
  worker.join();
  std::set<std::uint64_t> seen;
  for (const auto& e : second.events) {
    if (e.kind == event::ready) seen.insert(e.subject);
    if (e.kind == event::region_begin) {
      EXPECT_EQ(e.subject, 0u) << "the running task is not known here";
    }
  }
  EXPECT_EQ(seen, std::set<std::uint64_t>{3});
  EXPECT_FALSE(first.events.empty());
  EXPECT_EQ(second.all_lost(), 0u);
}

TEST_F(Recorded, NamesAreToldOnceHoweverManyUseThem) {
  const auto r = of([] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        for (std::uint64_t i = 0; i < 400; ++i) created(i + 1, 0, label("name " + std::to_string(i % 100)).view());
      });
  });
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(std::ranges::count(r.names, quoted(("name " + std::to_string(i)).c_str())), 1) << i;
  std::map<std::string, int> uses;
  for (const auto& e : r.events) ++uses[r.names.at(e.number)];
  EXPECT_EQ(uses.size(), 100u);
  for (const auto& [name, count] : uses) EXPECT_EQ(count, 16) << name;
}

TEST_F(Recorded, NamesThatJsonHasToEscape) {
  const auto r = of([] {
    created(1, 0, "a \"b\"\\");
    created(2, 0, "");
    created(3, 0, "line\nλ");
  });
  ASSERT_EQ(r.events.size(), 3u);
  EXPECT_EQ(r.names.at(r.events[0].number), R"("a \"b\"\\")");
  EXPECT_EQ(r.names.at(r.events[1].number), R"("")");
  EXPECT_EQ(r.names.at(r.events[2].number), R"("line\u000aλ")");
}

TEST_F(Recorded, ThreadsHaveTheNameOfTheirFirstEvent) {
  long kernel_id = 0;
  const auto r = of([&] {
    std::thread([&] {
      ::pthread_setname_np(::pthread_self(), "the walker");
      kernel_id = ::gettid();
      ready(77);
      ::pthread_setname_np(::pthread_self(), "too late");
      ready(78);
    }).join();
  });
  ASSERT_EQ(r.events.size(), 2u);
  EXPECT_EQ(r.threads.at(r.events[0].thread), R"({"id":)" + std::to_string(kernel_id) + R"(,"name":"the walker"})");
}

TEST_F(Recorded, ThreadsThatComeAndGoAreAllThere) {
  const auto r = of([] {
    for (std::uint64_t i = 1; i <= 100; ++i) std::thread([=] { ready(i); }).join();
  });
  std::set<std::uint64_t> threads, ids;
  for (const auto& e : r.events) threads.insert(e.thread), ids.insert(e.subject);
  EXPECT_EQ(ids.size(), 100u);
  EXPECT_EQ(threads.size(), 100u) << "no number is given again within a session";
}

TEST_F(Recorded, CountersHaveTheirFirstAndLastValues) {
  counter early("early things", "1");
  early.set(1.5);
  const auto r = of([&] {
    early.add(2);
    early.add(2);
  });
  const auto values = r.values("\"early things\"");
  ASSERT_FALSE(values.empty());
  EXPECT_LE(values.size(), 2u) << "one look at the begin, one at the end, and the first may be late";
  EXPECT_GE(values.front(), 1.5);
  EXPECT_EQ(values.back(), 5.5);
  const auto count_of = [&](const std::string& name) {
    return std::ranges::count_if(r.series, [&](const std::string& s) { return s.find(name) != std::string::npos; });
  };
  EXPECT_EQ(count_of("\"resident memory\""), 1);
  EXPECT_EQ(count_of(R"("name":"early things","unit":"1","worker":-1,"thread":-1)"), 1);
}

TEST_F(Recorded, CountersAreLookedAtOnceAPeriod) {
  auto o = options();
  o.period = 2ms;
  counter ticking("ticking", "1");
  const auto r = of(
      [&] {
        for (int i = 0; i < 200; ++i) ticking.add(1), std::this_thread::sleep_for(1ms);
      },
      o);
  const auto values = r.values("\"ticking\"");
  EXPECT_TRUE(std::ranges::is_sorted(values));
  EXPECT_GT(values.size(), 3u);  // of a hundred, on a machine whose cores are all wanted by others
  EXPECT_EQ(values.back(), 200);
}

TEST_F(Recorded, WhoWorksWhere) {
  counter_source of_workers([](std::vector<sample>& out) {
    for (int worker = 0; worker < 3; ++worker) out.push_back({"queue length", "1", worker, -1, 10. * worker});
  });
  const auto r = of([] {});
  for (int worker = 0; worker < 3; ++worker) {
    const auto values = r.values(R"("name":"queue length","unit":"1","worker":)" + std::to_string(worker));
    ASSERT_FALSE(values.empty());
    for (const double v : values) EXPECT_EQ(v, 10 * worker);
  }
}

TEST_F(Recorded, ASessionAndAListenerHearTheSame) {
  struct counting : listener {
    void created(std::uint64_t, std::uint64_t, std::string_view) noexcept override { ++calls; }
    void started(std::uint64_t, int) noexcept override { ++calls; }
    void suspended(std::uint64_t) noexcept override { ++calls; }
    void ready(std::uint64_t) noexcept override { ++calls; }
    void resumed(std::uint64_t, int) noexcept override { ++calls; }
    void finished(std::uint64_t) noexcept override { ++calls; }
    void linked(std::uint64_t, std::uint64_t) noexcept override { ++calls; }
    int calls = 0;
  } listener_here;
  set_listener(&listener_here);
  const auto both = of([] { created(1, 0, "task"), started(1, 0), finished(1), linked(1, 2); });
  EXPECT_FALSE(trace::recording());
  ready(1);  // to the listener alone
  set_listener(nullptr);
  const auto alone = of([] { ready(1); });
  EXPECT_EQ(both.events.size(), 4u);
  EXPECT_EQ(listener_here.calls, 5);
  EXPECT_EQ(alone.events.size(), 1u);
}

// A signal that the program has blocked waits for it, and does not end up on the session's thread.
TEST_F(Recorded, SignalsAreThePrograms) {
  static std::atomic<int> caught{0};
  struct sigaction count {
  }, before{};
  count.sa_handler = [](int) { ++caught; };
  ASSERT_EQ(::sigaction(SIGUSR1, &count, &before), 0);
  sigset_t one, old;
  ::sigemptyset(&one), ::sigaddset(&one, SIGUSR1);
  of([&] {
    ::pthread_sigmask(SIG_BLOCK, &one, &old);
    ::kill(::getpid(), SIGUSR1);
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(caught, 0);
    const timespec at_once{};
    EXPECT_EQ(::sigtimedwait(&one, nullptr, &at_once), SIGUSR1);
    ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  });
  ::sigaction(SIGUSR1, &before, nullptr);
}

// The session's thread gets a signal for it that would end the process.
TEST_F(Recorded, AFullDiskEndsTheTraceAndNotTheProgram) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto o = options();
  o.period = 1ms;
  session s(o);
  ready(1);
  rlimit small = before;
  small.rlim_cur = 200'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  while (s.problem().empty()) {
    for (std::uint64_t i = 0; i < 1000; ++i) ready(2);
    std::this_thread::sleep_for(1ms);
  }
  while (trace::recording()) std::this_thread::sleep_for(1ms);
  ready(3);
  s.close();
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(s.problem(), "File too large");
  EXPECT_EQ(head_of(s.path()),
            std::pair(std::string("cut: File too large"), std::to_string(bytes_of(s.path()).size())));
  const recorded r(s.path());
  EXPECT_LE(bytes_of(s.path()).size(), 200'000u);
  EXPECT_EQ(std::ranges::count(r.events, std::uint64_t(1), &recorded::event_found::subject), 1);
  EXPECT_EQ(std::ranges::count(r.events, std::uint64_t(3), &recorded::event_found::subject), 0);
}

}  // namespace
}  // namespace plaq::trace::detail
