// Graphs of tasks drawn at random, against the same graph evaluated one node after the other.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include "conformance.hpp"

namespace plaq::task {

template <class B>
struct RandomGraph : Conformance<B> {};
TYPED_TEST_SUITE(RandomGraph, every_backend, backend_names);

namespace {

/// How a node comes to its value from those that it uses.
enum class node_kind { async, dataflow_of_two, dataflow_of_many, then, unwrapped, all_of_them, ways };

struct node {
  node_kind way;
  std::vector<std::size_t> uses;  ///< nodes before it
  bool throws;
};

/// Result of a node: a value, or the number of the node whose error it passes on.
struct outcome {
  std::uint64_t value = 0;
  int error = -1;
  bool operator==(const outcome&) const = default;
};

std::vector<node> drawn(unsigned seed, std::size_t n, unsigned one_throws_in) {
  std::mt19937 random(seed);
  std::vector<node> graph;
  for (std::size_t i = 0; i < n; ++i) {
    node fresh{
        i < 3 ? node_kind::async : node_kind(random() % unsigned(node_kind::ways)), {}, random() % one_throws_in == 0};
    const std::size_t count = fresh.way == node_kind::async             ? 0
                              : fresh.way == node_kind::dataflow_of_two ? 2
                              : fresh.way == node_kind::then            ? 1
                              : fresh.way == node_kind::unwrapped       ? 1
                                                                        : random() % 5;
    for (std::size_t u = 0; u < count; ++u)
      fresh.uses.push_back(i - 1 - random() % std::min<std::size_t>(i, 20));  // near ones, so that chains are long
    graph.push_back(fresh);
  }
  return graph;
}

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6))) * 1099511628211;
}

std::uint64_t combined(std::size_t self, const std::vector<std::uint64_t>& values) {
  std::uint64_t sum = self;
  for (const auto v : values) sum = mixed(sum, v);
  return sum;
}

/// The error of the first that has one, in the order in which the node names them.
std::vector<outcome> evaluated(const std::vector<node>& graph) {
  std::vector<outcome> out;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    outcome mine;
    std::vector<std::uint64_t> values;
    for (const std::size_t u : graph[i].uses) {
      if (out[u].error >= 0 && mine.error < 0) mine.error = out[u].error;
      values.push_back(out[u].value);
    }
    if (mine.error < 0 && graph[i].throws) mine.error = int(i);
    if (mine.error < 0) mine.value = combined(i, values);
    out.push_back(mine);
  }
  return out;
}

struct node_failed {
  int number;
};

template <class B, class Pool>
std::vector<outcome> run(Pool& pool, const std::vector<node>& graph) {
  using result = typename B::template shared_future<std::uint64_t>;
  std::vector<result> results;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const node& me = graph[i];
    const auto work = [i, throws = me.throws](const std::vector<std::uint64_t>& values) {
      if (throws) throw node_failed{int(i)};
      return combined(i, values);
    };
    std::vector<result> used;
    for (const std::size_t u : me.uses) used.push_back(results[u]);
    const auto get_all = [](const std::vector<result>& ready) {
      std::vector<std::uint64_t> values;
      for (const auto& r : ready) values.push_back(r.get());
      return values;
    };
    switch (me.way) {
      case node_kind::async: results.push_back(pool.async("node", [work] { return work({}); })); break;
      case node_kind::dataflow_of_two:
        results.push_back(dataflow(
            pool, "node", [work](std::uint64_t a, std::uint64_t b) { return work({a, b}); }, used[0], used[1]));
        break;
      case node_kind::dataflow_of_many: results.push_back(dataflow(pool, "node", work, used)); break;
      case node_kind::then:
        results.push_back(used[0].then(pool, "node", [work](result ready) { return work({ready.get()}); }));
        break;
      case node_kind::unwrapped:
        results.push_back(used[0].then(pool, "outer", [work, &pool](result ready) {
          return pool.async("inner", [work, ready] { return work({ready.get()}); });
        }));
        break;
      default:
        results.push_back(
            when_all(used).then(pool, "node", [work, get_all](auto all) { return work(get_all(all.get())); }));
    }
  }
  std::vector<outcome> out;
  for (const auto& r : results) try {
      out.push_back({r.get(), -1});
    } catch (const node_failed& failed) {
      out.push_back({0, failed.number});
    }
  return out;
}

}  // namespace

TYPED_TEST(RandomGraph, ComesToTheSameAsOneNodeAfterTheOther) {
  for (int workers : {1, 2, 5}) {
    typename TypeParam::pool pool({.workers = workers});
    for (unsigned seed = 1; seed <= 6; ++seed) {
      const auto graph = drawn(seed, 400 / less, 1'000'000);
      ASSERT_EQ((run<TypeParam>(pool, graph)), evaluated(graph)) << "seed " << seed;
    }
  }
}

TYPED_TEST(RandomGraph, PassesOnTheErrorOfTheFirstThatWasNamed) {
  typename TypeParam::pool pool({.workers = 2});
  for (unsigned seed = 11; seed <= 16; ++seed) {
    const auto graph = drawn(seed, 300 / less, less > 1 ? 4 : 40);  // some node throws in each
    const auto expected = evaluated(graph);
    EXPECT_TRUE(std::ranges::any_of(expected, [](const outcome& o) { return o.error >= 0; }));
    ASSERT_EQ((run<TypeParam>(pool, graph)), expected) << "seed " << seed;
  }
}

// Waits are random; in the end all waiters have been woken, by their event or by the stop.
TYPED_TEST(RandomGraph, NobodySleepsOnWhateverIsStopped) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    typename TypeParam::pool pool({.workers = 1 + int(seed % 3)});
    channel<TypeParam, int> pipe(1 + seed % 3);
    typename TypeParam::mutex lock;
    typename TypeParam::condition_variable changed;
    typename TypeParam::template promise<int> p;
    const auto result = p.get_future().share();
    std::stop_source source;
    int notified = 0, woken = 0, pushed = 0, popped = 0;
    std::vector<typename TypeParam::template future<void>> tasks;
    for (int t = 0; t < 24; ++t)
      tasks.push_back(pool.async("one", [&, what = random() % 4, wait = random() % 30] {
        TypeParam::sleep_for(std::chrono::microseconds(wait));
        const auto token = source.get_token();
        try {
          if (what == 0) {
            if (pipe.push(1, token)) {
              std::lock_guard guard(lock);
              ++pushed;
            }
          } else if (what == 1) {
            if (pipe.pop(token)) {
              std::lock_guard guard(lock);
              ++popped;
            }
          } else if (what == 2) {
            result.wait(token);
          } else {
            std::unique_lock guard(lock);
            woken += changed.wait(guard, token, [&] { return notified > woken; });
          }
        } catch (const cancelled&) {
        }
      }));
    auto notifier = pool.async("notifier", [&] {
      for (int i = 0; i < 3; ++i) {
        TypeParam::yield();
        std::lock_guard guard(lock);
        ++notified;
        changed.notify_one();
      }
    });
    TypeParam::sleep_for(std::chrono::microseconds(random() % 60));
    if (seed % 2) p.set_value(1);
    source.request_stop();
    for (auto& t : tasks) t.get();
    notifier.get();
    pipe.close();
    while (pipe.pop()) ++popped;
    EXPECT_EQ(popped, pushed) << "seed " << seed << ": a value was lost or came twice";
    EXPECT_LE(woken, notified);
  }
}

// What is destroyed while an exception passes through tasks that wait is destroyed once.
TYPED_TEST(RandomGraph, ExceptionsUnwindStacksThatHaveWaited) {
  typename TypeParam::pool pool({.workers = 2});
  struct counted {
    std::atomic<int>& alive;
    explicit counted(std::atomic<int>& a) : alive(a) { ++alive; }
    counted(const counted& o) : alive(o.alive) { ++alive; }
    ~counted() { --alive; }
  };
  std::atomic<int> alive{0};
  std::function<void(int, unsigned)> level = [&](int depth, unsigned bits) {
    const counted here(alive);
    if (depth == 0) throw node_failed{int(bits)};
    const auto down = [&, copy = here, depth, bits] { level(depth - 1, bits); };
    try {
      pool.async("level", down).get();
    } catch (const node_failed&) {
      const counted handler(alive);
      TypeParam::yield();
      if (bits >> depth & 1) throw;
      throw node_failed{int(bits)};
    }
  };
  for (unsigned bits = 0; bits < 64; ++bits) {
    try {
      pool.async("root", [&] { level(6, bits); }).get();
      FAIL();
    } catch (const node_failed& e) {
      EXPECT_EQ(e.number, int(bits));
    }
    EXPECT_EQ(alive, 0);
  }
}

}  // namespace plaq::task
