// What a listener sees of the life of tasks.
#include <algorithm>
#include <map>
#include <mutex>
#include <regex>
#include <set>

#include "conformance.hpp"
#include "plaq/task/counters.hpp"
#include "plaq/trace/hooks.hpp"

namespace plaq::task {

namespace {

struct witness : trace::listener {
  struct life {
    std::uint64_t parent = 0;
    std::string name;
    std::string events;  // one letter each: c, s, w (waits), k (ready again), r, f
    int worker = -1;
  };
  void created(std::uint64_t id, std::uint64_t parent, std::string_view name) noexcept override {
    std::lock_guard guard(lock);
    if (!lives.emplace(id, life{parent, std::string(name), "c", -1}).second) clash = true;
  }
  void started(std::uint64_t id, int worker) noexcept override {
    add(id, 's');
    enter(id, worker);
  }
  void suspended(std::uint64_t id) noexcept override {
    add(id, 'w');
    leave(id);
  }
  void ready(std::uint64_t id) noexcept override { add(id, 'k'); }
  void resumed(std::uint64_t id, int worker) noexcept override {
    add(id, 'r');
    enter(id, worker);
  }
  void finished(std::uint64_t id) noexcept override {
    add(id, 'f');
    leave(id);
  }
  void linked(std::uint64_t from, std::uint64_t to) noexcept override {
    std::lock_guard guard(lock);
    const auto a = lives.find(from), b = lives.find(to);  // those from before are not known
    if (a != lives.end() && b != lives.end()) links.emplace(a->second.name, b->second.name);
  }

  void add(std::uint64_t id, char event) {
    std::lock_guard guard(lock);
    auto found = lives.find(id);
    if (found == lives.end()) return;  // of a task from before
    found->second.events += event;
  }
  void enter(std::uint64_t id, int worker) {
    std::lock_guard guard(lock);
    workers.insert(worker);
    if (!running.emplace(worker, id).second) clash = true;
  }
  void leave(std::uint64_t id) {
    std::lock_guard guard(lock);
    if (!std::erase_if(running, [&](const auto& r) { return r.second == id; })) clash = true;
  }

  std::mutex lock;
  std::map<std::uint64_t, life> lives;
  std::map<int, std::uint64_t> running;
  std::set<int> workers;
  std::set<std::pair<std::string, std::string>> links;  // of names: from, to
  bool clash = false;
};

struct listening {
  explicit listening(witness& w) { EXPECT_EQ(trace::set_listener(&w), nullptr); }
  ~listening() { trace::set_listener(nullptr); }
};

/// c k? s (w k? r)* f
bool is_a_life(const std::string& events) {
  static const std::regex life("ck?s(wk?r)*f");
  return std::regex_match(events, life);
}

}  // namespace

template <class B>
struct Life : Conformance<B> {};
TYPED_TEST_SUITE(Life, every_backend, backend_names);

TYPED_TEST(Life, EveryTaskIsSeenFromCreationToEnd) {
  for (int workers : {1, 2, 8}) {
    witness seen;
    std::map<std::uint64_t, std::uint64_t> parent_of;
    {
      typename TypeParam::pool pool({.workers = workers});
      listening now(seen);
      typename TypeParam::mutex mutex;
      channel<TypeParam, int> pipe(1);
      std::vector<typename TypeParam::template future<void>> all;
      for (int i = 0; i < 20; ++i)
        all.push_back(pool.async("parent " + std::to_string(i), [&] {
          const auto self = this_task::id();
          for (int c = 0; c < 5; ++c)
            pool.async("child",
                       [&] {
                         std::lock_guard lock(mutex);
                         parent_of[this_task::id()] = self;
                         TypeParam::yield();
                       })
                .get();
        }));
      all.push_back(pool.async("producer", [&] {
        pipe.close_after([&] {
          for (int i = 0; i < 50; ++i) EXPECT_TRUE(pipe.push(i));
        });
      }));
      all.push_back(pool.async("consumer", [&] {
        while (pipe.pop()) TypeParam::sleep_for(std::chrono::microseconds(10));
      }));
      for (auto& f : all) f.get();
    }
    EXPECT_EQ(seen.lives.size(), 20u + 100u + 2u);
    EXPECT_EQ(parent_of.size(), 100u);
    EXPECT_FALSE(seen.clash) << "two tasks on one worker, or an id twice";
    EXPECT_TRUE(seen.running.empty());
    std::set<std::string> names;
    for (const auto& [id, life] : seen.lives) {
      EXPECT_NE(id, 0u);
      EXPECT_TRUE(is_a_life(life.events)) << life.name << ": " << life.events;
      if (life.name == "child")
        EXPECT_EQ(life.parent, parent_of.at(id));
      else
        EXPECT_EQ(life.parent, 0u);
      names.insert(life.name);
    }
    EXPECT_TRUE(names.count("parent 0") && names.count("parent 19") && names.count("consumer"));
    EXPECT_GE(*seen.workers.begin(), 0);
    EXPECT_LT(*seen.workers.rbegin(), workers);
  }
}

// Their workers have different numbers: no clash, and counters are added separately.
TYPED_TEST(Life, PoolsThatExistAtOnceHaveWorkersOfTheirOwn) {
  constexpr int workers = 2;
  witness seen;
  listening now(seen);
  const auto both_run = [](auto& one, auto& other) {
    latch<TypeParam> together(2);
    auto a = one.async("one", [&] { together.arrive_and_wait(); });
    auto b = other.async("other", [&] {
      this_task::yield();
      together.arrive_and_wait();
    });
    a.get();
    b.get();
  };
  const auto numbers = [] {
    std::vector<int> first;
    for_each_pool([&](const pool_counters& pool) { first.push_back(pool.first_worker); });
    return first;
  };
  {
    auto one = std::make_unique<typename TypeParam::pool>(options{.workers = workers});
    typename TypeParam::pool other({.workers = workers});
    const bool shared = TypeParam::name() == "hpx";  // one runtime, and its workers, for all pools
    EXPECT_EQ(numbers(), (std::vector{0, shared ? 0 : workers}));
    for (int round = 0; round < 200 / less; ++round) both_run(*one, other);
    one.reset();
    os::pool third({.workers = 1});  // numbers that are free again are given again
    EXPECT_EQ(numbers(), (shared ? std::vector{0, workers} : std::vector{workers, 0}));
    both_run(other, third);
  }
  EXPECT_FALSE(seen.clash) << "two tasks on one worker";
  EXPECT_LT(*seen.workers.rbegin(), 2 * workers);
}

TYPED_TEST(Life, WaitingIsSeen) {
  witness seen;
  typename TypeParam::pool pool({.workers = 1});
  {
    listening now(seen);
    pool.async("parent", [&] { pool.async("child", [] {}).get(); }).get();
  }
  ASSERT_EQ(seen.lives.size(), 2u);
  EXPECT_EQ(seen.lives.begin()->second.events, "cswkrf");
  EXPECT_EQ(seen.lives.rbegin()->second.events, "csf");
  EXPECT_EQ(seen.lives.rbegin()->second.parent, seen.lives.begin()->first);
}

TYPED_TEST(Life, ContinuationsAreReadyOnceTheirAntecedentsAre) {
  witness seen;
  typename TypeParam::pool pool({.workers = 1});
  {
    listening now(seen);
    pool.async("parent", [&] { pool.async("first", [] {}).then(pool, "then", [](auto) {}).get(); }).get();
  }
  ASSERT_EQ(seen.lives.size(), 3u);
  const auto parent = seen.lives.begin()->first;
  const auto& then = seen.lives.rbegin()->second;
  EXPECT_EQ(then.name, "then");
  EXPECT_EQ(then.events, "cksf");
  EXPECT_EQ(then.parent, parent);
}

TYPED_TEST(Life, WhoUsedWhatIsSeen) {
  witness seen;
  typename TypeParam::pool pool({.workers = 2});
  const auto task = [&](task_name name) { return pool.async(name, [] { return 1; }); };
  {
    listening now(seen);
    pool.async("get", [&] { return task("a").get(); }).get();
    pool.async("wait", [&] { task("b").wait(); }).get();
    auto after = task("c").then(pool, "then", [](auto) { return 1; });
    auto shared = task("d").share();
    auto joined = dataflow(pool, "dataflow", [](int, int) { return 1; }, std::move(after), shared);
    pool.async("user", [&] { return joined.get() + shared.get(); }).get();
    pool.async("gatherer",
               [&] {
                 auto [e, f] = when_all(task("e"), task("f")).get();
                 return e.get();
               })
        .get();
    auto outer = task("g").then(pool, "outer", [&](auto) { return task("inner"); });
    pool.async("unwrapper", [&] { return outer.get(); }).get();
    channel<TypeParam, int> pipe(1);
    typename TypeParam::template promise<int> promise;
    auto kept = promise.get_future();
    auto consumer = pool.async("consumer", [&] { return *pipe.pop() + kept.get(); });
    pool.async("producer", [&] { EXPECT_TRUE(pipe.push(1)); }).get();
    pool.async("keeper", [&] { promise.set_value(1); }).get();
    consumer.get();
    EXPECT_TRUE(pipe.push(1));  // from outside: no link
    pool.async("other consumer", [&] { return *pipe.pop(); }).get();
  }
  const std::set<std::pair<std::string, std::string>> expected = {{"a", "get"},
                                                                  {"b", "wait"},
                                                                  {"c", "then"},
                                                                  {"then", "dataflow"},
                                                                  {"d", "dataflow"},
                                                                  {"d", "user"},
                                                                  {"dataflow", "user"},
                                                                  {"e", "gatherer"},
                                                                  {"g", "outer"},
                                                                  {"inner", "unwrapper"},
                                                                  {"producer", "consumer"},
                                                                  {"keeper", "consumer"}};
  EXPECT_EQ(seen.links, expected);
}

TYPED_TEST(Life, ListenerMayComeAndGoWhileTasksRun) {
  typename TypeParam::pool pool({.workers = 2});
  std::atomic<bool> stop{false};
  auto spawner = pool.async("spawner", [&] {
    while (!stop) pool.async("child", [] {}).get();
  });
  for (int i = 0; i < 50; ++i) {
    auto seen = std::make_unique<witness>();
    trace::set_listener(seen.get());
    std::this_thread::yield();
    EXPECT_EQ(trace::set_listener(nullptr), seen.get());
  }
  stop = true;
  spawner.get();
}

TEST(TaskName, LiteralsAreNotCopiedOthersLiveOn) {
  static constexpr const char literal[] = "walker";
  EXPECT_EQ(task_name(literal).view().data(), static_cast<const char*>(literal));
  std::string text = "walker 3";
  const task_name name(text), again(std::string_view("walker 3"));
  text = "gone";
  EXPECT_EQ(name.view(), "walker 3");
  EXPECT_EQ(name.view().data(), again.view().data());
}

}  // namespace plaq::task
