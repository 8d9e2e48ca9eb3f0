// Collections that balance: elements move, bits stay.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cells.hpp"
#include "plaq/task/task.hpp"

namespace plaq {
namespace {

using namespace test;

// Elements that count how often they were pushed, some ten times as often as others.
struct heavy {
  std::vector<double> u = std::vector<double>(20, 1);
  void serialize(archive& ar) { ar(u); }
};
TEST(collection_balancing, balancing_moves_elements_and_keeps_bits) {
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

TEST(collection_balancing, moves_where_it_pays) {
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

}  // namespace
}  // namespace plaq
