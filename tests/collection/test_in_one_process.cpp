// Elements that wander while they talk: the same bits as in a loop, whatever overtakes what.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "network.hpp"
#include "plaq/base/random.hpp"
#include "plaq/collection/collection.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using test::on_ranks;
const std::vector<std::string> no_errors(int ranks) { return std::vector<std::string>(std::size_t(ranks)); }

/// A number for each (seed, element, step).
std::uint64_t drawn(unsigned seed, index2 at, std::int64_t step) {
  return random_words({.seed = seed, .purpose = 5, .i = std::uint32_t(at.x), .j = std::uint32_t(at.y)}, std::uint64_t(step))[0];
}

// Cells that mix their value with what their neighbours send, in an order that shows in the bits.
struct cell {
  double u = 0;
  std::vector<double> history;
  void serialize(archive& ar) { ar(u, history); }
};
struct edge {
  int from_x, from_y;
  double u;
};
const box all_cells(index2{5, 4}, true);
cell first(index2 at) { return {1.0 / (1 + at.x + 5 * at.y), {}}; }
double mixed(double u, double v) { return 0.9 * u + 0.1 / (1 + v * v) - 0.01 * u * v; }

constexpr int rounds = 6;
struct result {
  std::vector<std::pair<index2, std::vector<double>>> histories = {};
  std::vector<double> sums = {};
  bool operator==(const result&) const = default;
};

/// The order of indices: y first.
bool before(index2 a, index2 b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); }

result in_a_loop() {
  std::vector<std::pair<index2, cell>> cells;
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) cells.push_back({{x, y}, first({x, y})});
  result out;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> old;
    for (auto& [at, c] : cells) old.push_back(c.u);
    double sum = 0;
    for (auto& [at, c] : cells) {
      std::vector<std::pair<index2, double>> came;
      for (const auto& n : all_cells.neighbours(at)) came.push_back({n.at, old[std::size_t(n.at.x + 5 * n.at.y)]});
      std::ranges::stable_sort(came, [](auto& a, auto& b) { return before(a.first, b.first); });
      for (auto& [from, u] : came) c.u = mixed(c.u, u);
      c.history.push_back(c.u);
      sum = sum / 3 + c.u;
    }
    out.sums.push_back(sum);
  }
  for (auto& [at, c] : cells) out.histories.push_back({at, c.history});
  return out;
}

std::atomic<long> moves{0}, detours{0};

result run_rounds(collection<cell, index2>& cells, unsigned seed, bool wander, int from, int to) {
  auto halo = cells.make_port<double>("halo");
  const auto wanders = [=, ranks = std::uint64_t(cells.size())](auto& here) {
    if (const auto word = drawn(seed, here.index(), here.step()); wander && word % 2)
      here.move_to(int(word / 2 % ranks));
  };
  std::vector<task::future<double>> sums;
  for (int round = from; round < to; ++round) {
    cells.each("send", [=](cell& c, auto& here) {
      for (const auto& n : all_cells.neighbours(here.index())) here.send(halo, n.at, c.u);
      wanders(here);
    });
    cells.each("mix", halo.of(8), [=](cell& c, auto& here) {
      for (auto& [from, u] : here.take(halo)) c.u = mixed(c.u, u);
      c.history.push_back(c.u);
      wanders(here);
    });
    sums.push_back(cells.reduce("sum", [](const cell& c) { return c.u; }, 0.0, [](double s, double u) { return s / 3 + u; }));
  }
  auto histories = cells.gather("histories", [](const cell& c) { return c.history; }, cells.size() - 1);
  cells.wait();
  result out{histories.get()};
  for (auto& s : sums) out.sums.push_back(s.get());
  moves += long(cells.moved());
  detours += long(cells.forwarded());
  return out;
}

result in_a_collection(const comm::communicator& world, task::detail::pool_base& pool, unsigned seed, bool wander) {
  collection<cell, index2> cells("cells", world, pool, along_hilbert(all_cells), first);
  return run_rounds(cells, seed, wander, 0, rounds);
}

/// More of them by hand: PLAQ_TEST_SEEDS=1000.
unsigned seeds(unsigned few) {
  const char* asked = std::getenv("PLAQ_TEST_SEEDS");
  return asked ? unsigned(std::atoi(asked)) : few;
}

TEST(collection_in_one_process, elements_that_wander_come_to_the_same_bits) {
  const result expected = in_a_loop();
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(60); ++seed) {
      const int ranks = 1 + int(seed % 8);
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        const result found = in_a_collection(world, pool, seed, seed % 10 != 9);
        EXPECT_EQ(found.sums, expected.sums) << "seed " << seed;
        if (world.rank() == ranks - 1) {
          EXPECT_EQ(found.histories, expected.histories) << "seed " << seed;
        } else {
          EXPECT_TRUE(found.histories.empty());
        }
      });
      EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
    }
  });
  EXPECT_GT(moves, 1000);
  EXPECT_GT(detours, 1000);
}

TEST(collection_in_one_process, runs_on_every_back_end) {
  const result expected = in_a_loop();
  for (const auto& backend : task::backends())
    for (const int workers : {1, 3})
      task::with_backend(backend, {.workers = workers}, [&](auto& pool) {
        const auto said = on_ranks(2, 1, [&](const comm::communicator& world) {
          EXPECT_EQ(in_a_collection(world, pool, 1, true).sums, expected.sums);
        });
        EXPECT_EQ(said, no_errors(2));
      });
}

// A tree that grows and loses its leaves: keys are paths, bits after a leading one.
struct leaf {
  double mass = 1;
  void serialize(archive& ar) { ar(mass); }
};
TEST(collection_in_one_process, elements_come_and_go) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(24); ++seed) {
      const int ranks = 1 + int(seed % 5);
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        collection<leaf, std::uint64_t> tree("tree", world, pool, scattered<std::uint64_t>());
        auto down = tree.template make_port<double>("down");
        if (world.rank() == ranks - 1) tree.insert(1, {});
        for (int level = 0; level < 5; ++level) {
          // Who has no children yet, and is not a leaf for good, has two, who hear how heavy they are.
          tree.each("split", [=, p = world.size()](leaf& l, auto& here) {
            const std::uint64_t at = here.index();
            for (const std::uint64_t child : {2 * at, 2 * at + 1}) {
              here.insert(child, {});
              here.send(down, child, l.mass / 3 * (1 + double(child % 2)));
            }
            here.remove();
            if (drawn(seed, {int(at), 0}, here.step()) % 3 == 0) here.move_to(int(at % std::uint64_t(p)));
          });
          tree.each("weigh", down.of(1), [=, p = world.size()](leaf& l, auto& here) {
            l.mass = here.take(down).at(0).value;
            here.move_to(int(drawn(seed, {int(here.index()), 0}, here.step()) % std::uint64_t(p)));
          });
          auto masses = tree.reduce("masses", [](const leaf& l) { return l.mass; }, 0.0, std::plus<>());
          EXPECT_NEAR(masses.get(), 1, 1e-14);
        }
        auto leaves = tree.gather("leaves", [](const leaf&, std::uint64_t at) { return at; });
        tree.wait();
        const auto all = leaves.get();
        EXPECT_EQ(all.size(), world.rank() == 0 ? 32u : 0u);
        for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].second, 32 + i);
      });
      EXPECT_EQ(said, no_errors(ranks)) << "seed " << seed;
    }
  });
}

// A key that goes and comes again.
TEST(collection_in_one_process, a_key_may_be_used_again) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (unsigned seed = 0; seed < seeds(20); ++seed) {
      const auto said = on_ranks(3, seed, [&](const comm::communicator& world) {
        collection<leaf, std::uint64_t> some("some", world, pool, scattered<std::uint64_t>());
        auto news = some.template make_port<int>("news");
        if (world.rank() == 0) some.insert(0, {});  // who stays, and tells the other
        for (int life = 0; life < 4; ++life) {
          if (world.rank() == 1) some.insert(7, {double(life)});
          some.each("tell", [=](leaf&, auto& here) {
            if (here.index() == 0) here.send(news, 7, life);
            here.move_to(int(drawn(seed, {int(here.index()), 1}, here.step()) % 3));
          });
          some.each("hear", news.of([](std::uint64_t at) { return at == 7; }), [=](leaf& l, auto& here) {
            for (const auto& [from, value] : here.take(news)) EXPECT_EQ(value, int(l.mass));
            here.move_to(int(drawn(seed, {int(here.index()), 2}, here.step()) % 3));
          });
          some.each("go", [=](leaf&, auto& here) {
            if (here.index() == 7) here.remove();
          });
          some.wait();
        }
      });
      EXPECT_EQ(said, no_errors(3)) << "seed " << seed;
    }
  });
}

// A checkpoint in the middle, with messages that nobody has taken; then other ranks.
TEST(collection_in_one_process, goes_on_from_a_checkpoint_on_other_ranks) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_collection_" + std::to_string(::getpid()));
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto half = [&](int ranks, bool first_half, unsigned seed) {
      std::vector<std::pair<index2, double>> found;
      const auto body = [&](collection<cell, index2>& cells, const comm::communicator& world) {
        auto halo = cells.make_port<double>("halo");
        const auto wanders = [=, ranks = std::uint64_t(ranks)](auto& here) {
          here.move_to(int(drawn(seed, here.index(), here.step()) % ranks));
        };
        const auto send = [=](cell& c, auto& here) {
          for (const auto& n : all_cells.faces(here.index())) here.send(halo, n.at, c.u);
          wanders(here);
        };
        if (first_half) cells.each("send", send);
        for (int n = 0; n < 4; ++n)
          cells.each("mix and send", halo.of(4), [=](cell& c, auto& here) {
            for (auto& [from, u] : here.take(halo)) c.u = mixed(c.u, u);
            send(c, here);
          });
        auto all = cells.gather("all", [](const cell& c) { return c.u; });
        if (first_half) cells.save(folder);
        cells.wait();
        if (world.rank() == 0) found = all.get();
      };
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        if (first_half) {
          collection<cell, index2> cells("cells", world, pool, along_hilbert(all_cells), first);
          body(cells, world);
        } else {
          collection<cell, index2> cells("cells", world, pool, along_hilbert(all_cells), saved{folder});
          body(cells, world);
        }
      });
      EXPECT_EQ(said, no_errors(ranks));
      return found;
    };
    const auto middle = half(3, true, 1);
    const auto expected = half(1, false, 2);
    EXPECT_NE(middle, expected);
    for (const int ranks : {2, 3, 7}) EXPECT_EQ(half(ranks, false, unsigned(ranks)), expected) << ranks;
    EXPECT_EQ(half(5, true, 9), middle);  // in the place of the other, whose parts are gone
    EXPECT_EQ(half(2, false, 4), expected);
    int files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder)) ++files;
    EXPECT_EQ(files, 6);

    // A byte that is another, wherever: an error of all ranks that names the file.
    const auto index = folder / "cells.checkpoint";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const auto name = entry.path();
      std::string bytes(std::size_t(std::filesystem::file_size(name)), 0);
      std::ifstream(name, std::ios::binary).read(bytes.data(), std::streamsize(bytes.size()));
      for (const std::size_t at : {std::size_t(3), bytes.size() / 2, bytes.size() - 1}) {
        std::string other = bytes;
        other[at] = char(other[at] ^ 4);
        std::ofstream(name, std::ios::binary) << other;
        const auto said = on_ranks(2, 0, [&](const comm::communicator& world) {
          collection<cell, index2> cells("cells", world, pool, along_hilbert(all_cells), saved{folder});
        });
        for (const auto& s : said) EXPECT_TRUE(s.find(name.filename()) != s.npos || s.find("left because") != s.npos) << s;
        EXPECT_TRUE(said[0].find(name.filename()) != std::string::npos || said[1].find(name.filename()) != std::string::npos);
      }
      std::ofstream(name, std::ios::binary) << bytes;
    }
    EXPECT_EQ(half(2, false, 4), expected);
    // A folder that cannot be written: an error, and what was there stays.
    const auto said = on_ranks(2, 0, [&](const comm::communicator& world) {
      collection<cell, index2> cells("cells", world, pool, along_hilbert(all_cells), saved{folder});
      cells.save(index);  // a file
    });
    for (const auto& s : said) EXPECT_NE(s.find("cells.checkpoint/cells.1."), s.npos) << s;
    EXPECT_EQ(half(2, false, 4), expected);
  });
  std::filesystem::remove_all(folder);
}

// A job that is killed again and again, and each time goes on from what it has saved.
TEST(collection_in_one_process, goes_on_whenever_it_is_killed) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_killed_" + std::to_string(::getpid()));
  const auto job = [&](const std::filesystem::path& where, int ranks) {
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, unsigned(ranks), [&](const comm::communicator& world) {
        std::optional<collection<cell, index2>> cells;
        const bool begun = std::filesystem::exists(where / "cells.checkpoint");
        if (begun)
          cells.emplace("cells", world, pool, along_hilbert(all_cells), saved{where});
        else
          cells.emplace("cells", world, pool, along_hilbert(all_cells), first);
        auto halo = cells->make_port<double>("halo");
        while (cells->steps() < 500) {
          for (int n = 0; n < 5; ++n) {
            cells->each("send", [=](cell& c, auto& here) {
              for (const auto& to : all_cells.faces(here.index())) here.send(halo, to.at, c.u);
              here.move_to(int(drawn(1, here.index(), here.step()) % std::uint64_t(ranks)));
            });
            cells->each("mix", halo.of(4), [=](cell& c, auto& here) {
              for (auto& [from, u] : here.take(halo)) c.u = mixed(c.u, u);
            });
          }
          cells->save(where);
        }
        // The values, in the order of indices, whoever has them.
        cells->wait();
        auto sum = cells->reduce("sum", [](const cell& c) { return c.u; }, 0.0, [](double s, double u) { return s / 3 + u; });
        cells->wait();
        if (world.rank() == 0) std::ofstream(where / "sum") << std::hexfloat << sum.get();
      });
      for (const auto& why : said)
        if (!why.empty()) std::fprintf(stderr, "%s\n", why.c_str());
    });
  };
  const auto as_process = [&](const std::filesystem::path& where, int ranks) {
    const pid_t child = ::fork();
    if (child == 0) {
      job(where, ranks);
      ::_exit(0);
    }
    return child;
  };
  const auto sum_in = [](const std::filesystem::path& where) {
    std::string text;
    std::ifstream(where / "sum") >> text;
    return text;
  };
  int status = 0;
  ::waitpid(as_process(folder / "whole", 2), &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  const auto expected = sum_in(folder / "whole");
  ASSERT_FALSE(expected.empty());
  int killed = 0;
  for (unsigned k = 0; k < 1000; ++k) {
    const pid_t child = as_process(folder / "killed", 1 + int(k % 3));
    std::this_thread::sleep_for(std::chrono::microseconds(drawn(k, {0, 0}, 0) % (2000 + 1000 * k)));
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) break;
    ++killed;
  }
  EXPECT_TRUE(WIFEXITED(status));
  ::testing::Test::RecordProperty("killed", killed);
  EXPECT_GT(killed, 0);  // the first has no time for anything
  EXPECT_EQ(sum_in(folder / "killed"), expected);
  std::filesystem::remove_all(folder);
}

// Elements that count how often they were pushed, some ten times as often as others.
struct heavy {
  std::vector<double> u = std::vector<double>(20, 1);
  void serialize(archive& ar) { ar(u); }
};
TEST(collection_in_one_process, balancing_moves_elements_and_keeps_bits) {
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    for (const auto& by : balance::balancers())
      for (const int ranks : {1, 4}) {
        std::vector<balanced> found(2);
        const auto said = on_ranks(ranks, 2, [&](const comm::communicator& world) {
          const box mesh(index2{8, 4});
          collection<heavy, index2> all("all", world, pool, along_hilbert(mesh), [](index2) { return heavy{}; }, load::work);
          auto halo = all.template make_port<double>("halo");
          std::vector<balanced> results;
          for (int round = 0; round < 2; ++round) {
            for (int n = 0; n < 3; ++n) {
              all.each("send", [=](heavy& h, auto& here) {
                for (const auto& at : mesh.faces(here.index())) here.send(halo, at.at, h.u[0]);
              });
              all.each("take", halo.of([=](index2 at) { return mesh.faces(at).size(); }), [=](heavy& h, auto& here) {
                for (auto& [from, u] : here.take(halo)) h.u[1] = mixed(h.u[1], u);
                here.work(here.index().x == 0 ? 10 : 1);
              });
            }
            results.push_back(all.balance({.by = std::string(by.name)}).get());
          }
          all.wait();
          if (world.rank() == 0) found = results;
          const double u = all.reduce("u", [](const heavy& h) { return h.u[1]; }, 0.0,
                                      [](double s, double v) { return s / 3 + v; }).get();
          static const double first = u;  // of one rank, where nothing moves
          EXPECT_EQ(u, first) << by.name;
        });
        EXPECT_EQ(said, no_errors(ranks)) << by.name;
        EXPECT_GE(found[0].before, ranks == 1 ? 0 : 0.5);
        EXPECT_EQ(found[0].floor, 0);  // 4 elements of 10, and 28 of 1: none is too large
        EXPECT_LE(found[0].predicted, found[0].before);
        EXPECT_NEAR(found[1].before, found[0].predicted, 1e-12) << by.name;  // and so it was
        if (ranks > 1 && by.name == "greedy_refine") {
          EXPECT_GT(found[0].moved, 0);
          EXPECT_LT(found[1].before, 0.1);
        }
        if (by.name == "none" || ranks == 1) {
          EXPECT_EQ(found[0].moved_bytes, 0);
        } else if (found[0].moved > 0) {
          EXPECT_EQ(found[0].moved_bytes, found[0].moved * (8 + 20 * 8));
        }
      }
  });
}

TEST(collection_in_one_process, moves_where_it_pays) {
  elements::report small{.load = 1, .bytes = 1000, .seconds_per_byte = 0, .rank = 0};
  std::vector<std::pair<elements::key, elements::report>> all;
  for (elements::key k = 0; k < 4; ++k) all.emplace_back(k, small);
  const auto position = [](elements::key k) { return k; };
  const auto moved = [&](double seconds_per_byte, bool only_if_it_pays) {
    for (auto& [k, r] : all) r.seconds_per_byte = seconds_per_byte;
    return elements::decide(all, {.only_if_it_pays = only_if_it_pays}, 2, position, {}).came_to.moved;
  };
  EXPECT_EQ(moved(0.01, false), 2);
  EXPECT_EQ(moved(0.0009, true), 2);  // 2 seconds less for 2000 bytes
  EXPECT_EQ(moved(0.0011, true), 0);
}

/// What every rank says of a collection of 6 with which `misuse` does something wrong.
template <class Misuse>
void expect_failure(const std::string& words, Misuse misuse) {
  for (const int ranks : {1, 3})
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, 3, [&](const comm::communicator& world) {
        collection<leaf, int> row("row", world, pool, in_rows(box(6)), [](int) { return leaf{}; });
        auto by = row.template make_port<int>("word");
        misuse(row, by, world.rank());
        row.wait();
      });
      for (const std::string& s : said) EXPECT_NE(s.find(words), std::string::npos) << s << " instead of " << words;
    });
}

TEST(collection_in_one_process, an_error_of_one_element_is_that_of_all_ranks) {
  expect_failure("row (4), step 1 'fail': no luck", [](auto& row, auto&, int) {
    row.each("go", [](leaf&) {});
    row.each("fail", [](leaf&, auto& here) {
      if (here.index() == 4) throw std::runtime_error("no luck");
    });
  });
  expect_failure("row (5), step 0 'fail': something was thrown", [](auto& row, auto&, int) {
    row.each("fail", [](leaf&, auto& here) {
      if (here.index() == 5) throw 7;
    });
  });
  expect_failure("no luck", [](auto& row, auto&, int) {  // whoever waits for a sum hears of it
    row.each("fail", [](leaf&, auto& here) {
      if (here.index() == 0) throw std::runtime_error("no luck");
    });
    row.reduce("sum", [](const leaf& l) { return l.mass; }, 0.0, std::plus<>()).get();
  });
}

TEST(collection_in_one_process, says_who_waits_for_what_nobody_sends) {
  expect_failure("row (2) waits, to begin step 1 'take': 1 of 2 messages of 'word'", [](auto& row, auto& by, int) {
    row.each("send", [=](leaf&, auto& here) {
      if (here.index() == 0) here.send(by, 2, 1);
    });
    row.each("take", by.of([](int at) { return at == 2 ? 2 : 0; }), [](leaf&) {});
  });
}

TEST(collection_in_one_process, refuses_what_cannot_be) {
  expect_failure("row (3): a message too many of 'word', from (", [](auto& row, auto& by, int) {
    row.each("send", [=](leaf&, auto& here) {
      if (here.index() > 3) here.send(by, 3, 1);
    });
    row.each("take", by.of([](int at) { return at == 3; }), [](leaf&) {});
  });
  expect_failure("row has no element (6)", [](auto& row, auto& by, int) {
    row.each("send", [=](leaf&, auto& here) { here.send(by, here.index() + 1, 1); });
  });
  expect_failure("row (1) cannot move to rank 9 of ", [](auto& row, auto&, int) {
    row.each("move", [=](leaf&, auto& here) {
      if (here.index() == 1) here.move_to(9);
    });
  });
  expect_failure("row (1) cannot go", [](auto& row, auto&, int) {
    row.each("remove", [=](leaf&, auto& here) {
      if (here.index() == 1) here.remove();
    });
  });
  expect_failure("rank 0: row: left because of an error", [](auto& row, auto& by, int rank) {
    if (rank == 0) throw std::runtime_error("rank 0: row: left because of an error");
    row.each("wait", by.of(1), [](leaf&) {});
    row.wait();
  });
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto said = on_ranks(2, 0, [&](const comm::communicator& world) {
      collection<leaf, int> row("row", world, pool, in_rows(box(6)), [](int) { return leaf{}; });
      for (int i = 0; i <= world.rank(); ++i) row.each("go", [](leaf&) {});
      row.wait();
    });
    for (const std::string& s : said) EXPECT_EQ(s.find("row: ranks have different numbers of steps, 1 and 2"), 0u) << s;
  });
}

}  // namespace
}  // namespace plaq
