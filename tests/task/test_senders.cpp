// Senders: the names of std::execution over pools and futures.
#include <memory>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>

#include "conformance.hpp"
#include "plaq/task/senders.hpp"

namespace plaq::task {

template <class B>
struct Senders : Conformance<B> {};
TYPED_TEST_SUITE(Senders, every_backend, backend_names);

namespace ex = execution;

TYPED_TEST(Senders, ResultsOfTasks) {
  typename TypeParam::pool pool({.workers = 2});
  auto number = ex::as_sender(pool, "number", pool.async("number", [] { return 20; }));
  auto one_more = std::move(number) | ex::then([](int n) { return n + 1; }) | ex::then([](int n) { return 2 * n; });
  EXPECT_EQ(ex::sync_wait(std::move(one_more)), std::tuple(42));
  const auto text = pool.async("text", [] { return std::string("seven"); }).share();
  EXPECT_EQ(ex::sync_wait(ex::then(ex::as_sender(pool, "length", text), [](std::string s) { return s.size(); })),
            std::tuple(std::size_t(5)));
  EXPECT_EQ(ex::sync_wait(ex::as_sender(pool, "nothing", pool.async("nothing", [] {}))), std::tuple());
  auto own = ex::as_sender(pool, "own", pool.async("own", [] { return std::make_unique<int>(3); }));
  EXPECT_EQ(*std::get<0>(*ex::sync_wait(std::move(own))), 3);
}

TYPED_TEST(Senders, ContinuationsRunInTasksOfThePool) {
  typename TypeParam::pool pool({.workers = 2});
  EXPECT_EQ(this_task::id(), 0u);
  auto [first, second] =
      *ex::sync_wait(ex::when_all(ex::schedule(pool, "a") | ex::then([] { return this_task::id(); }),
                                  ex::schedule(pool, "b") | ex::then([] { return this_task::id(); })));
  EXPECT_NE(first, 0u);
  EXPECT_NE(first, second);
}

TYPED_TEST(Senders, SyncWaitOfATaskReleasesItsWorker) {
  typename TypeParam::pool pool({.workers = 1});
  const auto waits = [&] {
    auto seven = ex::schedule(pool, "c") | ex::then([] { return TypeParam::yield(), 7; });
    return std::get<0>(*ex::sync_wait(std::move(seven)));
  };
  EXPECT_EQ(pool.async("waits", waits).get(), 7);
}

TYPED_TEST(Senders, AllValuesInTheirOrder) {
  typename TypeParam::pool pool({.workers = 2});
  for (int round = 0; round < 200 / less; ++round) {
    auto all = ex::when_all(ex::just(1, 'x'), ex::as_sender(pool, "two", pool.async("two", [] { return 2.5; })),
                            ex::schedule(pool, "none"), ex::schedule(pool, "word") | ex::then([] { return "w"; }));
    ASSERT_EQ(ex::sync_wait(std::move(all) | ex::then([](int a, char x, double b, std::string w) {
                              return w + x + std::to_string(a + b);
                            })),
              std::tuple(std::string("wx3.500000")));
  }
}

TYPED_TEST(Senders, ErrorsAndStopsPass) {
  typename TypeParam::pool pool({.workers = 2});
  const auto bad = [&] { return ex::as_sender(pool, "bad", pool.async("bad", []() -> int { throw 3; })); };
  bool called = false;
  EXPECT_THROW(ex::sync_wait(bad() | ex::then([&](int n) { return called = true, n; })), int);
  EXPECT_THROW(ex::sync_wait(ex::just(1) | ex::then([](int) -> int { throw runtime_failure("in f"); })),
               runtime_failure);
  std::stop_source source;
  source.request_stop();
  const auto stopped = [&] { return ex::as_sender(pool, "s", pool.async("s", source.get_token(), [] { return 1; })); };
  EXPECT_EQ(ex::sync_wait(stopped() | ex::then([&](int n) { return called = true, n; })), std::nullopt);
  EXPECT_EQ(ex::sync_wait(ex::when_all(stopped(), ex::just(1))), std::nullopt);
  EXPECT_THROW(ex::sync_wait(ex::when_all(stopped(), bad())), int) << "an error says more than a stop";
  EXPECT_FALSE(called);
}

namespace {
struct counting {
  void set_value(int n) && noexcept { sum->set_value(n); }
  void set_error(std::exception_ptr) && noexcept { sum->set_value(-1); }
  void set_stopped() && noexcept { sum->set_value(-2); }
  promise<int>* sum;
};
}  // namespace

TYPED_TEST(Senders, NothingRunsBeforeTheStart) {
  typename TypeParam::pool pool({.workers = 2});
  promise<int> given;
  auto result = given.get_future();
  auto work = ex::connect(ex::schedule(pool, "late") | ex::then([] { return 5; }), counting{&given});
  pool.async("other", [] {}).get();
  EXPECT_FALSE(result.is_ready());
  ex::start(work);
  EXPECT_EQ(result.get(), 5);
}

}  // namespace plaq::task
