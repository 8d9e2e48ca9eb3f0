// Order by access; what the compiler cannot know is an error that names both lines. What it can:
// tests/test_misuse.py.
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "plaq/collection/ref.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

template <class Body>
void on_every_pool(Body&& body) {
  for (const auto& backend : task::backends())
    for (const int workers : {1, 3}) task::with_backend(backend, {.workers = workers}, [&](auto& pool) { body(pool); });
}
template <class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const std::exception& e) {
    const std::string said = e.what();
    return said.substr(0, said.find(" ["));  // the path of the first line follows
  }
  return "nothing was thrown";
}
std::string line(int number) { return "test_ref.cpp:" + std::to_string(number); }

TEST(ref, tasks_that_change_a_value_come_in_their_order) {
  on_every_pool([](auto& pool) {
    ref<std::vector<int>> v;
    v.make();
    for (int i = 0; i < 50; ++i)
      v = work(pool, "add", [i](std::vector<int>& x) { x.push_back(i); }, modify(std::move(v)));
    const auto& found = v.get();
    ASSERT_EQ(found.size(), 50u);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(found[std::size_t(i)], i);
  });
}

TEST(ref, those_that_look_run_at_once_and_hold_up_who_changes) {
  on_every_pool([](auto& pool) {
    ref<int> a;
    a.make(1);
    task::promise<void> second;
    task::shared_future<void> second_looks = second.get_future().share();
    std::atomic<int> seen{0};
    a = work(pool, "first", [&, second_looks](const int& x) { second_looks.get(), seen += x; }, read(std::move(a)));
    a = work(pool, "second", [&](const int& x) { seen += x, second.set_value(); }, read(std::move(a)));
    a = work(pool, "change", [&](int& x) { x = seen == 2 ? 7 : -1; }, modify(std::move(a)));
    EXPECT_EQ(a.get(), 7);
  });
}

TEST(ref, work_takes_several_and_gives_them_back) {
  on_every_pool([](auto& pool) {
    ref<std::vector<double>> a;
    ref<double> sum;
    a.make(std::vector(100, 0.5));
    auto shown = std::move(a).with<access::read>();
    for (int i = 0; i < 3; ++i) {
      auto [one, two] = work(
          pool, "sum",
          [](const std::vector<double>& x, double& s) {
            for (double v : x) s += v;
          },
          read(std::move(shown)), modify(std::move(sum)));
      shown = std::move(one);
      sum = std::move(two);
    }
    EXPECT_EQ(sum.get(), 150);  // it began as 0
    auto again = std::move(sum).with<access::idempotent>();
    again = work(pool, "clamp", [](double& s) { s = s < 100 ? s : 100; }, idempotent(std::move(again)));
    EXPECT_EQ(again.get(), 100);
  });
}

TEST(ref, work_if_leaves_the_value_wcontext_the_answer_is_no) {
  on_every_pool([](auto& pool) {
    ref<int> a;
    a.make(3);
    task::promise<bool> answer;
    const auto when = answer.get_future().share();
    a = work_if(pool, "double", when, [](int& x) { x *= 2; }, modify(std::move(a)));
    answer.set_value(false);
    EXPECT_EQ(a.get(), 3);
    task::promise<bool> yes;
    yes.set_value(true);
    a = work_if(pool, "double", yes.get_future().share(), [](int& x) { x *= 2; }, modify(std::move(a)));
    EXPECT_EQ(a.get(), 6);
  });
}

TEST(ref, an_error_is_that_of_all_that_follow) {
  on_every_pool([](auto& pool) {
    ref<int> a;
    a.make(1);
    a = work(pool, "fail", [](int&) { throw std::runtime_error("no luck"); }, modify(std::move(a)));
    bool ran = false;
    a = work(pool, "after", [&](int&) { ran = true; }, modify(std::move(a)));
    EXPECT_EQ(message_of([&] { (void)a.get(); }), "no luck");
    EXPECT_FALSE(ran);
    ref<int> b;
    b.make(1);
    b = work(pool, "look", [](const int&) { throw std::runtime_error("bad sight"); }, read(std::move(b)));
    EXPECT_EQ(message_of([&] { (void)b.get(); }), "bad sight");
  });
}

/// What is said of a ref, and of where.
std::string used(int at, int given) {
  return "a ref is used at " + line(at) + ", but was given away at " + line(given);
}
std::string without(const std::string& what, int at, int made) {
  return "a ref is " + what + " at " + line(at) + ", but has no value since it was made at " + line(made);
}

TEST(ref, says_both_lines_of_a_use_after_it_was_moved) {
  ref<int> a;
  a.make(1);
  auto b = std::move(a);
  const int first = __LINE__ - 1;
  EXPECT_EQ(message_of([&] { (void)a.get(); }), used(__LINE__, first));
  EXPECT_EQ(message_of([&] { a.make(2); }), used(__LINE__, first));
  EXPECT_EQ(message_of([&] { (void)std::move(a).with<access::read>(); }), used(__LINE__, first));
  a = std::move(b);
  const int second = __LINE__ - 1;
  EXPECT_EQ(a.get(), 1);
  EXPECT_EQ(message_of([&] { (void)b.get(); }), used(__LINE__, second));
  EXPECT_EQ(message_of([&] { a = std::move(b); }), used(__LINE__, second));
  EXPECT_EQ(message_of([&] { ref<int> c(std::move(b)); }), used(__LINE__, second));
  const auto shown = std::move(a).with<access::read>();
  const int third = __LINE__ - 1;
  EXPECT_EQ(message_of([&] { (void)a.get(); }), used(__LINE__, third));
}

TEST(ref, says_both_lines_of_what_is_given_to_tasks_twice) {
  task::with_backend("fiber", {.workers = 1}, [](auto& pool) {
    ref<int> a;
    a.make(1);
    const auto kept = work(pool, "task", [](int&) {}, modify(std::move(a)));
    const int given = __LINE__ - 1;
    EXPECT_EQ(message_of([&] { (void)a.get(); }), used(__LINE__, given));
    EXPECT_EQ(message_of([&] { (void)modify(std::move(a)); }), used(__LINE__, given));
    EXPECT_EQ(message_of([&] { (void)idempotent(std::move(a)); }), used(__LINE__, given));
    EXPECT_EQ(message_of([&] { (void)read(std::move(a)); }), used(__LINE__, given));
  });
}

TEST(ref, says_both_lines_of_a_look_at_nothing) {
  ref<int> a;
  const int made = __LINE__ - 1;
  EXPECT_EQ(message_of([&] { (void)a.get(); }), without("read", __LINE__, made));
  EXPECT_EQ(message_of([&] { (void)read(std::move(a)); }), without("read", __LINE__, made));
  EXPECT_EQ(message_of([&] { (void)idempotent(std::move(a)); }), without("read", __LINE__, made));
  ref<int> b;
  b = std::move(a);
  EXPECT_EQ(message_of([&] { (void)b.get(); }), without("read", __LINE__, made));
}

TEST(ref, says_both_lines_of_a_second_value) {
  task::with_backend("fiber", {.workers = 1}, [](auto& pool) {
    const auto twice = [](int at, int since) {
      return "a ref is given a value at " + line(at) + ", but has one since " + line(since);
    };
    ref<int> a;
    a.make(2);
    const int first = __LINE__ - 1;
    EXPECT_EQ(message_of([&] { a.make(3); }), twice(__LINE__, first));
    ref<int> b;
    b = work(pool, "task", [](int& x) { x = 7; }, modify(std::move(b)));
    const int second = __LINE__ - 1;
    EXPECT_EQ(message_of([&] { b.make(3); }), twice(__LINE__, second));
    EXPECT_EQ(b.get(), 7);
  });
}

TEST(ref, says_both_lines_where_a_task_changes_what_cannot_begin_by_itself) {
  struct mass {
    explicit mass(double m) : kg(m) {}
    double kg;
  };
  task::with_backend("fiber", {.workers = 1}, [](auto& pool) {
    ref<mass> a;
    const int made = __LINE__ - 1;
    a = work(pool, "task", [](mass& m) { m.kg = 2; }, modify(std::move(a)));
    const int asked = __LINE__ - 1;
    EXPECT_EQ(message_of([&] { (void)a.get(); }), without("to be changed", asked, made) + "; make() it first");
  });
}

}  // namespace
}  // namespace plaq
