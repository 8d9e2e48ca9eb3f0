// What elements send each other: who gets it, when, in which order; and what goes wrong with it.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cells.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

struct log_of {
  std::vector<int> heard;
  void serialize(archive& ar) { ar(heard); }
};
using row_of_logs = collection<log_of, int>;

/// body(row, rank) for a row of six on 1 to 3 ranks; all have to come through.
template <class Body>
void on_rows(Body body) {
  for (const int ranks : {1, 2, 3})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      for (unsigned seed = 0; seed < seeds(4); ++seed) {
        const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
          row_of_logs row("row", world, pool, row_homes(box(6)), [](int) { return log_of{}; });
          body(row, world.rank());
        });
        EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
      }
    });
}
/// What an element has heard, on every rank.
std::vector<int> heard_by(row_of_logs& row, int which) {
  return row
      .reduce(
          "heard", [=](const log_of& l, int at) { return at == which ? l.heard : std::vector<int>(); },
          std::vector<int>(),
          [](std::vector<int> all, const std::vector<int>& more) {
            all.insert(all.end(), more.begin(), more.end());
            return all;
          })
      .get();
}

TEST(messages, come_by_sender_and_then_in_the_order_of_sending) {
  on_rows([](auto& row, int) {
    auto by = row.template make_port<int>("by");
    row.each("send", [=](log_of&, auto& context) {
      for (int k = 0; k < 4; ++k) context.send(by, 2, 10 * (5 - context.index()) + k);
    });
    row.each("take", by.of([](int at) { return at == 2 ? 24 : 0; }), [=](log_of& l, auto& context) {
      for (const auto& [from, value] : context.take(by)) {
        EXPECT_EQ(from, 5 - value / 10);
        l.heard.push_back(value);
      }
    });
    EXPECT_EQ(heard_by(row, 2), (std::vector<int>{50, 51, 52, 53, 40, 41, 42, 43, 30, 31, 32, 33,
                                                  20, 21, 22, 23, 10, 11, 12, 13, 0,  1,  2,  3}));
    EXPECT_TRUE(heard_by(row, 3).empty());
  });
}

TEST(messages, belong_to_the_first_later_step_that_takes_from_their_port) {
  on_rows([](auto& row, int) {
    auto a = row.template make_port<int>("a");
    auto b = row.template make_port<std::string>("b");
    const auto sends = [=](int value) {
      return [=](log_of&, auto& context) {
        if (context.index() != 0) return;
        context.send(a, 5, value);
        context.send(b, 5, std::string(std::size_t(value), 'x'));
      };
    };
    const auto of_last = [](int many) { return [=](int at) { return at == 5 ? many : 0; }; };
    row.each("1", sends(1));
    row.each("2", sends(2));
    row.each("3", a.of(of_last(2)), [=](log_of& l, auto& context) {  // what the first two have sent; b waits
      for (const auto& m : context.take(a)) l.heard.push_back(m.value);
      EXPECT_TRUE(context.take(b).empty());
      sends(3)(l, context);
    });
    row.each("4", sends(4));
    row.each("5", {a.of(of_last(2)), b.of(of_last(4))}, [=](log_of& l, auto& context) {
      for (const auto& m : context.take(a)) l.heard.push_back(10 * m.value);
      for (const auto& m : context.take(b)) l.heard.push_back(100 * int(m.value.size()));
    });
    EXPECT_EQ(heard_by(row, 5), (std::vector<int>{1, 2, 30, 40, 100, 200, 300, 400}));
  });
}

TEST(messages, may_be_counted_by_what_an_element_holds) {
  on_rows([](auto& row, int) {
    auto by = row.template make_port<int>("by");
    row.each("plan", [](log_of& l, auto& context) { l.heard.assign(std::size_t(context.index()), 0); });
    row.each("send", [=](log_of&, auto& context) {
      for (int to = context.index() + 1; to < 6; ++to) context.send(by, to, context.index());
    });
    row.each("take", by.of([](const log_of& l, int) { return l.heard.size(); }), [=](log_of& l, auto& context) {
      l.heard.clear();
      for (const auto& m : context.take(by)) l.heard.push_back(m.value);
    });
    EXPECT_EQ(heard_by(row, 4), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_TRUE(heard_by(row, 0).empty());
  });
}

TEST(messages, to_several_at_once) {
  on_rows([](auto& row, int) {
    auto by = row.template make_port<int>("by");
    row.each("send", [=](log_of&, auto& context) {
      if (context.index() == 1) context.multicast(by, std::vector<int>{0, 1, 5}, 7);
    });
    row.each("take", by.of([](int at) { return at == 0 || at == 1 || at == 5; }), [=](log_of& l, auto& context) {
      for (const auto& m : context.take(by)) l.heard.push_back(m.value);
    });
    for (const int at : {0, 1, 5}) EXPECT_EQ(heard_by(row, at), std::vector<int>{7});
    EXPECT_TRUE(heard_by(row, 2).empty());
  });
}

/// Counts how often one is packed.
struct counted {
  std::vector<double> values = std::vector<double>(100, 1.0);
  static inline std::atomic<int> packed{0};
  void serialize(archive& ar) {
    if (!ar.unpacks()) ++packed;
    ar(values);
  }
};
TEST(messages, go_over_as_they_are_within_a_rank) {
  for (const int ranks : {1, 2}) {
    counted::packed = 0;
    std::atomic<const double*> sent{nullptr}, came{nullptr};
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, 1, [&](const comm::communicator& world) {
        row_of_logs row("row", world, pool, row_homes(box(2)), [](int) { return log_of{}; });
        auto by = row.template make_port<counted>("by");
        row.each("send", [&](log_of&, auto& context) {
          if (context.index() != 0) return;
          counted what;
          sent = what.values.data();
          context.send(by, 1, std::move(what));
        });
        row.each("take", by.of([](int at) { return at == 1; }), [&](log_of&, auto& context) {
          for (const auto& m : context.take(by)) {
            came = m.value.values.data();
            EXPECT_EQ(m.value.values, std::vector<double>(100, 1.0));
          }
        });
        row.wait();
      });
      EXPECT_EQ(said, no_errors(ranks));
    });
    EXPECT_EQ(counted::packed > 0, ranks == 2);
    if (ranks == 1) {  // on two the memory may be the same by chance
      EXPECT_EQ(sent.load(), came.load());
    }
  }
}

TEST(messages, to_and_from_elements_that_move_each_step) {
  on_rows([](auto& row, int) {
    auto by = row.template make_port<int>("by");
    for (int n = 0; n < 8; ++n) {
      row.each("send", [=, p = row.size()](log_of&, auto& context) {
        context.send(by, (context.index() + n) % 6, 10 * n + context.index());
        context.move_to((context.rank() + 1) % p);
      });
      row.each("take", by.of(1), [=](log_of& l, auto& context) {
        for (const auto& m : context.take(by)) l.heard.push_back(m.value);
      });
    }
    EXPECT_EQ(heard_by(row, 3), (std::vector<int>{3, 12, 21, 30, 45, 54, 63, 72}));
  });
}

TEST(messages, are_gathered_on_the_root_that_is_asked_for) {
  on_rows([](auto& row, int rank) {
    for (int root = 0; root < row.size(); ++root) {
      auto all = row.gather("squares", [](const log_of&, int at) { return at * at; }, root).get();
      if (rank != root) {
        EXPECT_TRUE(all.empty());
        continue;
      }
      ASSERT_EQ(all.size(), 6u);
      for (int at = 0; at < 6; ++at) EXPECT_EQ(all[std::size_t(at)], (std::pair{at, at * at}));
    }
  });
}

// What goes wrong where the caller's own functions run is the error of all ranks, too.
template <class Misuse>
void expect_error(const std::string& words, Misuse misuse) {
  for (const int ranks : {1, 3})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, 3, [&](const comm::communicator& world) {
        row_of_logs row("row", world, pool, row_homes(box(6)), [](int) { return log_of{}; });
        misuse(row, row.template make_port<int>("by"));
        row.wait();
      });
      for (const std::string& s : said) EXPECT_NE(s.find(words), std::string::npos) << s << " instead of " << words;
    });
}
TEST(messages, errors_of_the_functions_that_are_called) {
  expect_error("cannot count", [](auto& row, auto by) {
    row.each("take", by.of([](int at) -> int {
      if (at == 3) throw std::runtime_error("cannot count");
      return 0;
    }),
             [](log_of&) {});
  });
  expect_error("cannot give", [](auto& row, auto) {
    row.reduce(
           "sum",
           [](const log_of&, int at) {
             if (at == 5) throw std::runtime_error("cannot give");
             return 1;
           },
           0, std::plus<>())
        .get();
  });
  expect_error("cannot add", [](auto& row, auto) {
    row.reduce(
           "sum", [](const log_of&) { return 1; }, 0, [](int, int) -> int { throw std::runtime_error("cannot add"); })
        .get();
  });
}

struct shy {
  double mass = 1;
  void serialize(archive& ar) {
    if (mass > 3) throw std::runtime_error("cannot be packed");
    ar(mass);
  }
};
TEST(messages, an_element_that_cannot_be_packed_ends_the_job) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(2, 3, [&](const comm::communicator& world) {
      collection<shy, int> row("row", world, pool, row_homes(box(6)), [](int at) { return shy{double(at)}; });
      row.each("move", [](shy&, auto& context) { context.move_to(1 - context.rank()); });
      row.wait();
    });
    for (const std::string& s : said) EXPECT_NE(s.find("cannot be packed"), std::string::npos) << s;
  });
}

using tree_of = collection<log_of, std::uint64_t>;
template <class Misuse>
void expect_tree_error(const std::string& words, Misuse misuse) {
  for (const int ranks : {1, 3})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, 5, [&](const comm::communicator& world) {
        tree_of tree("tree", world, pool, hashed_homes<std::uint64_t>());
        auto by = tree.template make_port<int>("by");
        if (world.rank() == 0)
          for (const std::uint64_t k : {1, 2, 3}) tree.insert(k, {});
        misuse(tree, by, world.rank());
        tree.wait();
      });
      for (const std::string& s : said) EXPECT_NE(s.find(words), std::string::npos) << s << " instead of " << words;
    });
}
TEST(messages, elements_that_come_and_go_wrongly) {
  expect_tree_error("tree (2) exists already", [](auto& tree, auto&, int) {
    tree.each("insert", [](log_of&, auto& context) {
      if (context.index() == 1) context.insert(2, {});
    });
  });
  expect_tree_error("tree (3) is removed with an unread message from (1)", [](auto& tree, auto& by, int) {
    tree.each("send", [=](log_of&, auto& context) {
      if (context.index() == 1) context.send(by, 3, 1);
    });
    tree.wait();  // it has come
    tree.each("go", [](log_of&, auto& context) {
      if (context.index() == 3) context.remove();
    });
  });
  expect_tree_error("tree (9) does not exist, but has a message from (2)", [](auto& tree, auto& by, int) {
    tree.each("send", [=](log_of&, auto& context) {
      if (context.index() == 2) context.send(by, 9, 1);
    });
  });
}

TEST(messages, collections_that_cannot_be_made) {
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    const auto said = on_ranks(1, 0, [&](const comm::communicator& world) {
      EXPECT_THROW(tree_of("tree", world, pool, hashed_homes<std::uint64_t>(), [](std::uint64_t) { return log_of{}; }),
                   input_error);
      EXPECT_THROW(row_of_logs("row", world, pool, row_homes(box(6))), input_error);
      row_of_logs row("row", world, pool, row_homes(box(6)), [](int) { return log_of{}; });
      EXPECT_THROW(row.insert(3, {}), input_error);
      EXPECT_THROW((void)row.balance({.by = "no such one"}), input_error);
      row.wait();  // it is whole all the same
      EXPECT_EQ(row.steps(), 0);
    });
    EXPECT_EQ(said, no_errors(1));
  });
}

}  // namespace
}  // namespace plaq
