// Checkpoints: on other ranks, damaged, and of jobs that are killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cells.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

// A checkpoint in the middle, with messages that nobody has taken; then other ranks.
TEST(collection_checkpoint, goes_on_from_a_checkpoint_on_other_ranks) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_collection_" + std::to_string(::getpid()));
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto half = [&](int ranks, bool first_half, unsigned seed) {
      std::vector<std::pair<index2, double>> found;
      const auto body = [&](collection<cell, index2>& cells, const comm::communicator& world) {
        auto halo = cells.make_port<double>("halo");
        const auto wanders = [=, ranks = std::uint64_t(ranks)](auto& context) {
          context.move_to(int(drawn(seed, context.index(), context.step()) % ranks));
        };
        const auto send = [=](cell& c, auto& context) {
          for (const auto& n : all_cells.faces(context.index())) context.send(halo, n.at, c.u);
          wanders(context);
        };
        if (first_half) cells.each("send", send);
        for (int n = 0; n < 4; ++n)
          cells.each("mix and send", halo.of(4), [=](cell& c, auto& context) {
            for (auto& [from, u] : context.take(halo)) c.u = mixed(c.u, u);
            send(c, context);
          });
        auto all = cells.gather("all", [](const cell& c) { return c.u; });
        if (first_half) cells.save(folder);
        cells.wait();
        if (world.rank() == 0) found = all.get();
      };
      const auto said = on_ranks(ranks, seed, [&](const comm::communicator& world) {
        if (first_half) {
          collection<cell, index2> cells("cells", world, pool, hilbert_homes(all_cells), first);
          body(cells, world);
        } else {
          collection<cell, index2> cells("cells", world, pool, hilbert_homes(all_cells), checkpoint{folder});
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
          collection<cell, index2> cells("cells", world, pool, hilbert_homes(all_cells), checkpoint{folder});
        });
        for (const auto& s : said)
          EXPECT_TRUE(s.find(name.filename()) != s.npos || s.find("destroyed because") != s.npos) << s;
        EXPECT_TRUE(said[0].find(name.filename()) != std::string::npos ||
                    said[1].find(name.filename()) != std::string::npos);
      }
      std::ofstream(name, std::ios::binary) << bytes;
    }
    EXPECT_EQ(half(2, false, 4), expected);
    // A folder that cannot be written: an error, and what was there stays.
    const auto said = on_ranks(2, 0, [&](const comm::communicator& world) {
      collection<cell, index2> cells("cells", world, pool, hilbert_homes(all_cells), checkpoint{folder});
      cells.save(index);  // a file
    });
    for (const auto& s : said) EXPECT_NE(s.find("cells.checkpoint/cells.1."), s.npos) << s;
    EXPECT_EQ(half(2, false, 4), expected);
  });
  std::filesystem::remove_all(folder);
}

// A job that is killed again and again, and each time goes on from what it has saved.
TEST(collection_checkpoint, goes_on_whenever_it_is_killed) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_killed_" + std::to_string(::getpid()));
  const auto job = [&](const std::filesystem::path& where, int ranks) {
    task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
      const auto said = on_ranks(ranks, unsigned(ranks), [&](const comm::communicator& world) {
        std::optional<collection<cell, index2>> cells;
        const bool begun = std::filesystem::exists(where / "cells.checkpoint");
        if (begun)
          cells.emplace("cells", world, pool, hilbert_homes(all_cells), checkpoint{where});
        else
          cells.emplace("cells", world, pool, hilbert_homes(all_cells), first);
        auto halo = cells->make_port<double>("halo");
        while (cells->steps() < 500) {
          for (int n = 0; n < 5; ++n) {
            cells->each("send", [=](cell& c, auto& context) {
              for (const auto& to : all_cells.faces(context.index())) context.send(halo, to.at, c.u);
              context.move_to(int(drawn(1, context.index(), context.step()) % std::uint64_t(ranks)));
            });
            cells->each("mix", halo.of(4), [=](cell& c, auto& context) {
              for (auto& [from, u] : context.take(halo)) c.u = mixed(c.u, u);
            });
          }
          cells->save(where);
        }
        // The values, in the order of indices, whoever has them.
        cells->wait();
        auto sum = cells->reduce("sum", [](const cell& c) { return c.u; }, 1.0, bracket);
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

}  // namespace
}  // namespace plaq
