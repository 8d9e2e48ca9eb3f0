// Misuse of a plasma, the exchange between ranks, and limits of Poisson's equation.
#include <gtest/gtest.h>

#include "../collection/network.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/neighbours.hpp"
#include "plaq/pic/poisson/fourier.hpp"
#include "plaq/pic/poisson/rank_exchange.hpp"
#include "plaq/pic/poisson/surface.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

const plasma_options one_worker{.pool = {.workers = 1}};

/// Returns the errors of body(plasma) on so many ranks.
std::vector<std::string> errors_of(const plan& p, int ranks, const std::function<void(plasma&)>& body,
                                   const plasma_options& options = one_worker) {
  return on(ranks, p, options,
            [&](plasma& s) {
              body(s);
              return std::vector<double>();
            })
      .errors;
}

TEST(plasma_misuse, lists_of_the_wrong_length_are_refused) {
  const plan p = periodic(2, 1, 6, 1);
  const std::vector<double> two(2), plane(3 * 7), all(3 * 42);
  const auto expect = [&](const std::string& message, const std::function<void(plasma&)>& body) {
    EXPECT_EQ(errors_of(p, 1, body).at(0), message);
  };
  expect("set_fields: patch 0 needs 3 x 42 numbers of a field", [&](plasma& s) { s.set_fields(0, all, two); });
  expect("set_incoming_fields: patch 0 needs 3 x 7 numbers of a field",
         [&](plasma& s) { s.set_incoming_fields(0, all, plane); });
  expect("", [&](plasma& s) { s.set_fields(0, all, all), s.set_incoming_fields(0, plane, plane); });
}

TEST(plasma_misuse, patches_and_species_that_do_not_exist_are_refused) {
  const plan p = periodic(1, 1, 16, 4);
  const std::vector<double> x{0.1}, w{1}, u(3);
  EXPECT_EQ(errors_of(p, 1, [](plasma& s) { s.mesh(-1); }).at(0), "there is no patch -1");
  EXPECT_EQ(errors_of(p, 1, [](plasma& s) { s.shifted_mesh(7); }).at(0), "there is no patch 7");
  EXPECT_EQ(errors_of(p, 1, [](plasma& s) { s.particles(9, 0); }).at(0), "patch 9 is not on this rank");
  EXPECT_EQ(errors_of(p, 1, [&](plasma& s) { s.load(0, 3, {x, w, u, u, false}); }).at(0), "species 3 of 1");
  EXPECT_EQ(errors_of(p, 1, [&](plasma& s) { s.load(2, 0, {x, w, u, u, false}); }).at(0),
            "load: a particle of \"electrons\" at 0.100000 is not in patch 2");
}

TEST(plasma_misuse, patches_of_other_ranks_are_refused) {
  const plan p = periodic(1, 1, 16, 4);
  for (const auto& error : errors_of(p, 2, [](plasma& s) {
         const auto local = s.local_patches();
         for (int patch = 0; patch < 4; ++patch)
           if (std::ranges::find(local, patch) == local.end()) s.field(patch, "ex");
       }))
    EXPECT_NE(error.find("is not on this rank"), std::string::npos) << error;
}

TEST(plasma_misuse, plans_that_are_not_valid_make_no_plasma) {
  plan p = periodic(1, 1, 16, 4);
  p.dt = 0;
  EXPECT_EQ(errors_of(p, 1, [](plasma&) {}).at(0), "dt = 0: above 0");
}

TEST(plasma_misuse, unknown_back_ends_and_balancers_are_errors) {
  const plan p = periodic(1, 1, 16, 4);
  EXPECT_NE(errors_of(p, 1, [](plasma&) {}, {.backend = "green", .pool = {.workers = 1}}).at(0), "");
  EXPECT_NE(errors_of(p, 1, [](plasma& s) { s.balance({.by = "by_hand"}); }).at(0), "");
}

TEST(plasma, arrays_have_the_values_that_were_set_x_fastest) {
  const plan p = periodic(3, 1, 6, 2);
  EXPECT_EQ(errors_of(p, 1,
                      [&](plasma& s) {
                        for (const int patch : s.local_patches()) {
                          const std::size_t n = own_cells(s.mesh(patch)).size();
                          std::vector<double> e(3 * n), b(3 * n);
                          for (std::size_t i = 0; i < e.size(); ++i) e[i] = double(i), b[i] = -double(i);
                          s.set_fields(patch, e, b);
                          for (std::size_t c = 0; c < 3; ++c) {
                            const auto of_e = s.field(patch, field_names()[c]),
                                       of_b = s.field(patch, field_names()[3 + c]);
                            for (std::size_t i = 0; i < n; ++i) {
                              ASSERT_EQ(of_e[i], double(c * n + i));
                              ASSERT_EQ(of_b[i], -double(c * n + i));
                            }
                          }
                        }
                      })
                .at(0),
            "");
}

TEST(plasma, particles_are_returned_where_they_were_loaded) {
  const plan p = periodic(2, 1, 8, 2);
  EXPECT_EQ(errors_of(p, 1,
                      [&](plasma& s) {
                        for (const int patch : s.local_patches()) {
                          const auto x = make_positions(p, s.mesh(patch), 3, 2, false);
                          const std::size_t n = x.size() / 2;
                          std::vector<double> w(n), drift(3 * n), none(3 * n);
                          for (std::size_t i = 0; i < n; ++i) w[i] = 1 + double(i), drift[3 * i + 1] = 0.01 * double(i);
                          s.load(patch, 0, {x, w, drift, none, false});
                          const particle_view view = s.particles(patch, 0);
                          ASSERT_EQ(view.w, w);
                          ASSERT_EQ(view.u, drift);
                          for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(view.x[i], x[i], 1e-15);
                          EXPECT_TRUE(view.id.empty());
                        }
                      })
                .at(0),
            "");
}

TEST(plasma, homes_are_the_ranks_that_hold_the_patches) {
  const plan p = periodic(1, 1, 24, 6);
  std::mutex guard;
  std::vector<int> holders(6, -1), homes;
  for (const auto& error : errors_of(p, 3, [&](plasma& s) {
         const auto all = s.homes();
         const auto local = s.local_patches();
         std::lock_guard lock(guard);
         homes = all;
         for (const int patch : local) {
           EXPECT_EQ(holders[std::size_t(patch)], -1);
           holders[std::size_t(patch)] = all[std::size_t(patch)];
         }
       }))
    EXPECT_EQ(error, "");
  EXPECT_EQ(holders, homes);
}

// Exchange between ranks
// -----------------------------------------------------------------------------------------------

TEST(rank_exchange, brings_every_list_to_its_rank) {
  for (const int ranks : {1, 2, 5}) {
    const auto errors = plaq::test::on_ranks(ranks, 1, [&](const comm::communicator& world) {
      rank_exchange exchange(world);
      for (int round = 0; round < 3; ++round) {
        std::vector<std::vector<double>> to;
        for (int r = 0; r < ranks; ++r)
          to.emplace_back(std::size_t((world.rank() + r + round) % 4), 100 * world.rank() + 10 * r + round);
        const auto received = exchange(std::move(to));
        ASSERT_EQ(int(received.size()), ranks);
        for (int r = 0; r < ranks; ++r)
          EXPECT_EQ(received[std::size_t(r)], std::vector<double>(std::size_t((world.rank() + r + round) % 4),
                                                                  100 * r + 10 * world.rank() + round));
      }
    });
    EXPECT_EQ(errors, std::vector<std::string>(std::size_t(ranks)));
  }
}

TEST(rank_exchange, gathers_the_list_of_each_rank_on_all) {
  const auto errors = plaq::test::on_ranks(3, 1, [](const comm::communicator& world) {
    rank_exchange exchange(world);
    const auto all = exchange.gather_all(std::vector<double>(std::size_t(world.rank()), world.rank() + 0.5));
    EXPECT_EQ(all, (std::vector<std::vector<double>>{{}, {1.5}, {2.5, 2.5}}));
  });
  EXPECT_EQ(errors, std::vector<std::string>(3));
}

TEST(poisson, refuses_surfaces_of_too_many_nodes) {
  plan p = between(periodic(2, 1, 100, 1), 0, field_boundary::conducting, particle_boundary::absorbed,
                   particle_boundary::absorbed);
  p.electrostatic = true, p.conductors.resize(1);
  point at{};
  for (at[1] = 0; at[1] < p.nodes(1); ++at[1])
    for (at[0] = 1; at[0] < p.cells[0]; at[0] += 2) p.conductors[0].nodes.push_back(number_of_node(p, at));
  ASSERT_GT(surface_nodes(p).unknowns.size(), max_surface_nodes);
  const auto error = errors_of(p, 1, [](plasma& s) { s.solve_poisson(); }).at(0);
  EXPECT_NE(error.find("nodes on their surface; at most 4096 are allowed"), std::string::npos) << error;
}

}  // namespace
}  // namespace plaq::pic
