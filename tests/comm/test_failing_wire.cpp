// What messengers, handlers and collectives make of a wire that fails, which MPI hardly ever does.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "plaq/comm/collectives/byte_executor.hpp"
#include "plaq/comm/collectives/operations.hpp"
#include "plaq/comm/messages/active_messages.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/task/poller.hpp"
#include "plaq/task/task.hpp"
#include "scripted_wire.hpp"

namespace {

using namespace plaq::comm;
using test::script;
namespace task = plaq::task;

communicator over(script& by, int ranks = 3) { return communicator(std::make_unique<test::scripted_wire>(by, ranks)); }
void look(int times = 1) {
  for (int i = 0; i < times; ++i) task::detail::poll_once();
}
/// "" where there is none.
template <class T>
std::string error_of(task::future<T>& future) {
  if (!future.is_ready()) return "is not ready";
  try {
    future.get();
  } catch (const plaq::runtime_failure& e) {
    const std::string text = e.what();
    return text.substr(0, text.find(" ["));  // without the line of the source
  }
  return "";
}

struct failing_wire : testing::Test {
  ~failing_wire() override { EXPECT_EQ(task::detail::expected, 0) << "nobody looks for what has ended"; }
  script by;
  std::array<int, 2> in{}, out{};
};

TEST_F(failing_wire, a_send_that_cannot_begin) {
  messenger m(over(by));
  by.fails = {"send"};
  auto going = m.isend(out, 2, 7);
  EXPECT_EQ(error_of(going), "rank 0: send to rank 2 with tag 7: the cable is out");
  by.fails.clear();
  auto next = m.isend(out, 2, 7);
  EXPECT_EQ(m.in_progress(), "send to rank 2");
  by.ended[by.begun.back()] = "";
  look();
  EXPECT_EQ(error_of(next), "") << "one that fails harms no other";
}

TEST_F(failing_wire, a_send_that_fails_on_its_way) {
  messenger m(over(by));
  auto first = m.isend(out, 1, 4), second = m.isend(out, 2, 4), third = m.isend(out, 1, 4);
  by.ended[by.begun[1]] = "lost";
  look();
  EXPECT_EQ(error_of(second), "rank 0: send to rank 2 with tag 4: lost");
  EXPECT_FALSE(first.is_ready() || third.is_ready());
  EXPECT_EQ(m.in_progress(), "send to rank 1");
  for (const auto h : by.begun) by.ended[h] = "";
  look();
  EXPECT_EQ(error_of(first) + error_of(third), "");
}

TEST_F(failing_wire, a_message_that_cannot_be_received) {
  messenger m(over(by));
  auto bad = m.irecv(in, 1, 4), good = m.irecv(in, 1, 4);
  by.arrives(1, 4, sizeof in);
  by.fails = {"receive"};
  look();
  EXPECT_EQ(error_of(bad), "rank 0: receive from rank 1 with tag 4: the cable is out");
  EXPECT_FALSE(good.is_ready());
  by.fails.clear();
  by.arrives(1, 4, sizeof in);
  look();
  by.ended[by.begun.back()] = "";
  look();
  EXPECT_EQ(error_of(good), "");
  EXPECT_EQ(in[0], 0x5a5a5a5a);
}

TEST_F(failing_wire, an_early_message_that_cannot_be_received) {
  messenger m(over(by));
  auto other = m.irecv(in, 2, 9);  // so that somebody looks
  by.arrives(1, 4, sizeof in);
  look();
  by.fails = {"receive"};
  auto bad = m.irecv(in, any_rank, 4);
  EXPECT_EQ(error_of(bad), "rank 0: receive from rank 1 with tag 4: the cable is out");
  EXPECT_EQ(m.in_progress(), "receive from rank 2");
}

// What does not fit is received by somebody, so that those behind it can come.
TEST_F(failing_wire, a_message_that_does_not_fit_fails_on_its_way_too) {
  messenger m(over(by));
  auto bad = m.irecv(in, 1, 4);
  by.arrives(1, 4, 3);
  look();
  ASSERT_EQ(by.begun.size(), 1u);
  EXPECT_FALSE(bad.is_ready());
  EXPECT_EQ(in[0], 0) << "it is not the buffer's";
  by.ended[by.begun[0]] = "lost";
  look();
  EXPECT_EQ(error_of(bad), "rank 0: receive from rank 1 with tag 4: expected 8 bytes and got 3");
}

TEST_F(failing_wire, all_fails_where_nothing_can_be_found_out) {
  messenger m(over(by));
  auto posted = m.irecv(in, 1, 4), any = m.irecv(in, any_rank, 5), mine = m.irecv(in, 0, 6);
  auto in_flight = m.isend(out, 2, 7);
  by.fails = {"next_arrival"};
  look();
  const std::string why = ": the cable is out";
  EXPECT_EQ(error_of(posted), "rank 0: receive from rank 1 with tag 4" + why);
  EXPECT_EQ(error_of(any), "rank 0: receive from any rank with tag 5" + why);
  EXPECT_EQ(error_of(mine), "rank 0: receive from rank 0 with tag 6" + why);
  EXPECT_EQ(error_of(in_flight), "rank 0: send to rank 2 with tag 7" + why);
  EXPECT_EQ(m.in_progress(), "");
  by.fails.clear();
  auto later = m.isend(out, 0, 8);  // to itself it can send still
  m.irecv(in, 0, 8).get();
  EXPECT_EQ(error_of(later), "");
}

TEST_F(failing_wire, what_is_under_way_at_the_end_is_let_go_of) {
  task::future<status> in_flight, posted;
  {
    messenger m(over(by));
    in_flight = m.isend(out, 2, 7);
    posted = m.irecv(in, 1, 4);
    by.arrives(2, 3, 8);  // which nobody ever asks for
    look();
  }
  EXPECT_EQ(by.forgotten, by.begun);
  EXPECT_EQ(error_of(in_flight), "rank 0: send to rank 2 with tag 7: the messenger was destroyed");
  EXPECT_EQ(error_of(posted), "rank 0: receive from rank 1 with tag 4: the messenger was destroyed");
}

TEST_F(failing_wire, a_look_costs_the_same_however_many_are_under_way) {
  messenger m(over(by));
  std::vector<task::future<status>> all;
  for (int i = 0; i < 100; ++i) all.push_back(m.isend(out, 1 + i % 2, i));
  by.looked_at.clear();
  look(4);
  EXPECT_EQ(by.looked_at, (std::vector<std::size_t>{32, 32, 32, 4}));
  for (const int i : {0, 31, 32, 64, 95, 99, 98}) by.ended[by.begun[std::size_t(i)]] = i == 64 ? "lost" : "";
  look(5);
  for (int i = 0; i < 100; ++i) {
    const bool ended = i == 0 || i == 31 || i == 32 || i == 64 || i == 95 || i >= 98;
    ASSERT_EQ(all[std::size_t(i)].is_ready(), ended) << i;
    if (i == 64) {
      EXPECT_EQ(error_of(all[64]), "rank 0: send to rank 1 with tag 64: lost");
    }
  }
  for (const auto h : by.begun) by.ended[h] = "";
  look(10);
  for (auto& f : all) EXPECT_TRUE(!f.valid() || f.is_ready());
}

TEST_F(failing_wire, a_prepared_send_that_fails) {
  messenger m(over(by));
  by.fails = {"prepare_send"};
  EXPECT_THROW((void)m.prepare_send(out, 1, 2), plaq::runtime_failure);
  by.fails = {"start"};
  {
    auto prepared = m.prepare_send(out, 1, 2);
    auto going = prepared.start();
    EXPECT_EQ(error_of(going), "rank 0: send to rank 1 with tag 2: the cable is out");
    by.fails.clear();
    going = prepared.start();
    by.ended[by.begun.back()] = "";
    look();
    EXPECT_EQ(error_of(going), "");
  }
  EXPECT_EQ(by.forgotten, by.begun);
}

TEST_F(failing_wire, handlers_and_their_sends_hear_of_it) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    active_messages a(over(by), pool);
    std::atomic<int> handled{0};
    a.on<int>("count", 3, [&](int, int) { ++handled; });
    by.fails = {"send"};
    a.send(7, 1, 3);
    EXPECT_TRUE(a.stopping().stop_requested());
    a.send(7, 0, 3);
    EXPECT_EQ(a.in_progress().find("send"), std::string::npos);
  });
}

// Steps of collectives.

struct failing_steps : failing_wire {
  test::scripted_wire wires{by, 3};
  byte_executor does{wires};
  std::array<std::byte, 16> input{}, output{}, scratch{};
  const combination none;
  const step send{step::action::send, 2, 8, {}, {memory::input, 0}, {}};
  const step receive{step::action::receive, 1, 8, {memory::output, 8}, {}, {}};
  const step copy{step::action::copy, -1, 8, {memory::output, 0}, {memory::input, 0}, {}};

  failing_steps() { does.begin(5, {input.data(), output.data(), scratch.data()}, none); }
  template <class Action>
  static std::string error_in(Action&& action) {
    try {
      action();
    } catch (const plaq::runtime_failure& e) {
      const std::string text = e.what();
      return text.substr(0, text.find(" ["));
    }
    return "";
  }
  std::string error_at_a_look() {
    std::vector<std::uint32_t> numbers;
    return error_in([&] { does.finished(numbers); });
  }
};

TEST_F(failing_steps, that_cannot_begin) {
  by.fails = {"send", "receive", "copy"};
  EXPECT_EQ(error_in([&] { does.start(0, send); }), "rank 0: send to rank 2: the cable is out");
  EXPECT_EQ(error_in([&] { does.start(0, receive); }), "rank 0: receive from rank 1: the cable is out");
  EXPECT_EQ(error_in([&] { does.start(0, copy); }), "rank 0: copy: the cable is out");
}

TEST_F(failing_steps, that_fail_on_their_way) {
  EXPECT_FALSE(does.start(3, send));
  EXPECT_FALSE(does.start(4, receive));
  EXPECT_EQ(does.open().in_words(), "receive from rank 1; send to rank 2");
  by.ended[by.begun[0]] = "lost";
  EXPECT_EQ(error_at_a_look(), "rank 0: send to rank 2: lost");
  EXPECT_EQ(does.open().in_words(), "receive from rank 1");
  by.ended[by.begun[1]] = "";
  by.bytes_got[by.begun[1]] = 4;
  EXPECT_EQ(error_at_a_look(), "rank 0: receive from rank 1: expected 8 bytes and got 4");
  EXPECT_EQ(does.open().in_words(), "");
}

TEST_F(failing_steps, are_given_up_at_the_end) {
  {
    byte_executor other(wires);
    other.begin(6, {input.data(), output.data(), scratch.data()}, none);
    other.start(0, receive);
    other.start(1, send);
    other.start(2, receive);
  }
  EXPECT_EQ(by.cancelled, (std::vector<wire::handle>{by.begun[0], by.begun[2]}));
  EXPECT_EQ(by.forgotten, (std::vector<wire::handle>{by.begun[1]}));
}

TEST_F(failing_wire, an_operation_fails_alone) {
  program steps;
  steps.receive(1, {}, 8);
  steps.send(2, {}, 8);
  const auto todo = std::make_shared<const schedule>(std::move(steps).finish());
  std::array<std::byte, 8> bytes{};
  operations all(std::make_unique<test::scripted_wire>(by, 3));
  const auto begin = [&] { return all.start({plaq::trace::label("pass on"), todo, {}, bytes, {}, {}}); };
  auto bad = begin(), good = begin();
  EXPECT_EQ(all.in_words(), "pass on (receive from rank 1), pass on (receive from rank 1)");
  by.ended[by.begun[0]] = "lost";
  by.ended[by.begun[1]] = "";
  look();
  EXPECT_EQ(error_of(bad), "rank 0: receive from rank 1: lost");
  EXPECT_EQ(all.in_words(), "pass on (send to rank 2)");
  by.ended[by.begun.back()] = "";
  look();
  EXPECT_EQ(error_of(good), "");
  by.fails = {"receive"};
  auto third = begin();
  EXPECT_EQ(error_of(third), "rank 0: receive from rank 1: the cable is out");
  EXPECT_EQ(all.in_words(), "");
}

TEST_F(failing_wire, an_operation_that_is_waited_for_fails_too) {
  program steps;
  steps.send(2, {}, 8);
  const auto todo = std::make_shared<const schedule>(std::move(steps).finish());
  std::array<std::byte, 8> bytes{};
  operations all(std::make_unique<test::scripted_wire>(by, 3));
  by.fails = {"send"};
  EXPECT_THROW(all.run({plaq::trace::label("send"), todo, {}, bytes, {}, {}}), plaq::runtime_failure);
  EXPECT_EQ(all.in_words(), "");
  task::future<void> lost;
  {
    operations others(std::make_unique<test::scripted_wire>(by, 3));
    by.fails.clear();
    lost = others.start({plaq::trace::label("late"), todo, {}, bytes, {}, {}});
  }
  EXPECT_EQ(error_of(lost), "rank 0: late: its collectives were destroyed");
  EXPECT_EQ(by.forgotten, by.begun);
}

}  // namespace
