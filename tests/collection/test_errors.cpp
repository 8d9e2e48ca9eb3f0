// What goes wrong, and what is said of it on every rank.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "cells.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

struct leaf {
  double mass = 1;
  void serialize(archive& ar) { ar(mass); }
};

/// What every rank says of a collection of 6 with which `misuse` does something wrong.
template <class Misuse>
void expect_failure(const std::string& words, Misuse misuse) {
  for (const int ranks : {1, 3})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, 3, [&](const comm::communicator& world) {
        collection<leaf, int> row("row", world, pool, row_homes(box(6)), [](int) { return leaf{}; });
        auto by = row.template make_port<int>("word");
        misuse(row, by, world.rank());
        row.wait();
      });
      for (const std::string& s : said) EXPECT_NE(s.find(words), std::string::npos) << s << " instead of " << words;
    });
}

TEST(collection_errors, an_error_of_one_element_is_that_of_all_ranks) {
  expect_failure("row (4), step 1 'fail': no luck", [](auto& row, auto&, int) {
    row.each("go", [](leaf&) {});
    row.each("fail", [](leaf&, auto& context) {
      if (context.index() == 4) throw std::runtime_error("no luck");
    });
  });
  expect_failure("row (5), step 0 'fail': an exception that is not a std::exception", [](auto& row, auto&, int) {
    row.each("fail", [](leaf&, auto& context) {
      if (context.index() == 5) throw 7;
    });
  });
  expect_failure("no luck", [](auto& row, auto&, int) {  // whoever waits for a sum hears of it
    row.each("fail", [](leaf&, auto& context) {
      if (context.index() == 0) throw std::runtime_error("no luck");
    });
    row.reduce("sum", [](const leaf& l) { return l.mass; }, 0.0, std::plus<>()).get();
  });
}

struct dated {
  int day = 7;
  void serialize(archive& ar) { ar(day); }
  std::string moment() const { return "day " + std::to_string(day); }
};
TEST(collection_errors, values_with_a_moment_tell_it) {
  task::with_backend("fiber", {.workers = 2}, [](auto& pool) {
    const auto said = on_ranks(2, 3, [&](const comm::communicator& world) {
      collection<dated, int> row("row", world, pool, row_homes(box(6)), [](int) { return dated{}; });
      row.each("wait", [](dated& one) { ++one.day; });
      row.each("fail", [](dated&, auto& context) {
        if (context.index() == 4) throw std::runtime_error("no luck");
      });
      row.wait();
    });
    for (const std::string& s : said) EXPECT_NE(s.find("row (4), day 8 'fail': no luck"), std::string::npos) << s;
  });
}

TEST(collection_errors, memory_that_is_not_to_be_had) {
  expect_failure("row (3), step 1 'grow': out of memory", [](auto& row, auto&, int) {
    row.each("go", [](leaf&) {});
    row.each("grow", [](leaf&, auto& context) {
      if (context.index() == 3) throw std::bad_alloc();
    });
  });
  // No stack for any task: nobody can wait for those.
  task::with_backend("fiber", {.workers = 1, .stack_size = std::size_t(1) << 60}, [&](auto& pool) {
    const auto said = on_ranks(1, 3, [&](const comm::communicator& world) {
      collection<leaf, int> row("row", world, pool, row_homes(box(6)), [](int) { return leaf{}; });
      row.each("go", [](leaf&) {});
      row.wait();
    });
    EXPECT_EQ(said[0].find("rank 0: row: no memory or stack for a step"), 0u) << said[0];
  });
}

TEST(collection_errors, says_who_waits_for_what_nobody_sends) {
  expect_failure("row (2) waits, to begin step 1 'take': 1 of 2 messages of 'word'", [](auto& row, auto& by, int) {
    row.each("send", [=](leaf&, auto& context) {
      if (context.index() == 0) context.send(by, 2, 1);
    });
    row.each("take", by.of([](int at) { return at == 2 ? 2 : 0; }), [](leaf&) {});
  });
}

// Who waits for what is asked of all hears of it, without a wait().
TEST(collection_errors, what_is_asked_of_all_ends_when_an_element_waits_for_ever) {
  const auto two_for_4 = [](auto& row, auto& by) {
    row.each("send", [=](leaf&, auto& context) {
      if (context.index() == 0) context.send(by, 4, 1);
    });
    row.each("take", by.of([](int at) { return at == 4 ? 2 : 0; }), [](leaf&) {});
  };
  const auto words = "row (4) waits, to begin step 1 'take': 1 of 2 messages of 'word'";
  const auto mass = [](const leaf& l) { return l.mass; };
  expect_failure(words, [=](auto& row, auto& by, int) {
    two_for_4(row, by);
    row.reduce("sum", mass, 0.0, std::plus<>()).get();
    FAIL() << "a sum of what never came";
  });
  expect_failure(words, [=](auto& row, auto& by, int) {
    two_for_4(row, by);
    row.balance().get();
    FAIL() << "balanced";
  });
  expect_failure(words, [=](auto& row, auto& by, int) {
    two_for_4(row, by);
    row.gather("all", mass, row.size() - 1).get();
    FAIL() << "gathered";
  });
  expect_failure(words, [=](auto& row, auto& by, int rank) {  // some wait for the sum, others for the end
    two_for_4(row, by);
    auto sum = row.reduce("sum", mass, 0.0, std::plus<>());
    if (rank == 0) sum.get();
  });
  expect_failure(words, [=](auto& row, auto& by, int) {  // the first that waits is named, not those that wait for it
    two_for_4(row, by);
    row.each("send", [=](leaf&, auto& context) {
      if (context.index() == 4) context.send(by, 1, 1);
    });
    row.each("take", by.of([](int at) { return at == 1 ? 1 : 0; }), [](leaf&) {});
    row.reduce("sum", mass, 0.0, std::plus<>()).get();
  });
}

TEST(collection_errors, a_call_that_is_another_on_another_rank) {
  const auto said = on_ranks(3, 5, [&](const comm::communicator& world) {
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      collection<leaf, int> row("row", world, pool, row_homes(box(6)), [](int) { return leaf{}; });
      row.each("go", [](leaf&) {});
      if (world.rank() == 1)
        row.each("go", [](leaf&) {}), row.wait();
      else
        row.reduce("sum", [](const leaf& l) { return l.mass; }, 0.0, std::plus<>()).get();
    });
  });
  for (const std::string& s : said)
    EXPECT_EQ(s.find("row: step 1 'sum' differs from the call of another rank"), 0u) << s;
}

// Who waits for elements of a rank that has made fewer calls is not to blame: the numbers of calls are named.
TEST(collection_errors, a_rank_that_makes_fewer_calls) {
  const auto said = on_ranks(3, 5, [&](const comm::communicator& world) {
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      collection<leaf, int> row("row", world, pool, row_homes(box(6)), [](int) { return leaf{}; });
      auto by = row.template make_port<int>("word");
      if (world.rank() != 2)
        row.each("send", [=](leaf&, auto& context) { context.send(by, (context.index() + 3) % 6, 1); });
      if (world.rank() != 2) row.each("take", by.of(1), [](leaf&) {});
      row.wait();
    });
  });
  for (const std::string& s : said) EXPECT_EQ(s.find("row: ranks have different numbers of steps, 0 and 2"), 0u) << s;
}

// Ranks that ask while others have not come so far are not stuck, however long those take.
TEST(collection_errors, who_is_late_is_no_error) {
  for (unsigned seed = 0; seed < seeds(10); ++seed) {
    std::atomic<int> asked{0};
    const auto said = on_ranks(3, seed, [&](const comm::communicator& world) {
      task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
        collection<leaf, int> row("row", world, pool, row_homes(box(6)), [](int) { return leaf{}; });
        auto by = row.template make_port<int>("word");
        // Those of the late rank send: until it comes the others wait in a step that it has not issued.
        if (world.rank() == 2)
          while (asked < 2) std::this_thread::yield();
        for (int n = 0; n < 3; ++n) {
          row.each("send", [=](leaf&, auto& context) { context.send(by, (context.index() + 3) % 6, 1); });
          row.each("take", by.of(1), [](leaf&) {});
          auto sum = row.reduce("sum", [](const leaf& l) { return l.mass; }, 0.0, std::plus<>());
          if (n == 0) ++asked;
          EXPECT_EQ(sum.get(), 6);
        }
      });
    });
    EXPECT_EQ(said, no_errors(3)) << "seed " << seed;
  }
}

TEST(collection_errors, refuses_what_cannot_be) {
  expect_failure("row (3): one message too many of 'word', from (", [](auto& row, auto& by, int) {
    row.each("send", [=](leaf&, auto& context) {
      if (context.index() > 3) context.send(by, 3, 1);
    });
    row.each("take", by.of([](int at) { return at == 3; }), [](leaf&) {});
  });
  expect_failure("row has no element (6)", [](auto& row, auto& by, int) {
    row.each("send", [=](leaf&, auto& context) { context.send(by, context.index() + 1, 1); });
  });
  expect_failure("row (1) cannot move to rank 9 of ", [](auto& row, auto&, int) {
    row.each("move", [=](leaf&, auto& context) {
      if (context.index() == 1) context.move_to(9);
    });
  });
  expect_failure("row (1) cannot be removed", [](auto& row, auto&, int) {
    row.each("remove", [=](leaf&, auto& context) {
      if (context.index() == 1) context.remove();
    });
  });
  expect_failure("rank 0: row: destroyed because of an error", [](auto& row, auto& by, int rank) {
    if (rank == 0) throw std::runtime_error("rank 0: row: destroyed because of an error");
    row.each("wait", by.of(1), [](leaf&) {});
    row.wait();
  });
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(2, 0, [&](const comm::communicator& world) {
      collection<leaf, int> row("row", world, pool, row_homes(box(6)), [](int) { return leaf{}; });
      for (int i = 0; i <= world.rank(); ++i) row.each("go", [](leaf&) {});
      row.wait();
    });
    for (const std::string& s : said) EXPECT_EQ(s.find("row: ranks have different numbers of steps, 1 and 2"), 0u) << s;
  });
}

}  // namespace
}  // namespace plaq
