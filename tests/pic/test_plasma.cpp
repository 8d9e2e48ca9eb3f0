// Whole plasmas: bitwise identical results, conservation laws, errors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <mutex>
#include <numbers>

#include "plaq/base/error.hpp"
#include "whole.hpp"

namespace plaq::pic {
namespace {

using namespace test;

plan electrons_and_ions(int dimensions, int order, int cells = 8, int patches = 2) {
  plan p = periodic(dimensions, order, cells, patches);
  p.species_list.push_back({"ions", 1, 25, pusher::vay});
  p.species_list[0].tracked = true;
  return p;
}

/// Particles that are denser on the left, with a drift that depends on x.
filling uneven() {
  return {.per_cell = 3,
          .drift = [](std::size_t s,
                      const double* x) { return std::array{s == 0 ? 0.2 * std::sin(3 * x[0]) : 0.0, 0.05, -0.1}; },
          .thermal = 0.2,
          .density = [](const double* x) { return x[0] < 0.5 ? 3.0 : 0.5; }};
}

std::vector<double> go(plasma& s, int steps, bool gauss = false) {
  fill(s, uneven());
  s.start();
  return s.advance(steps, gauss);
}

TEST(plasma, is_bitwise_identical_on_any_ranks_and_workers) {
  for (const bool single : {false, true}) {
    const plan p = electrons_and_ions(2, 2, 9, 3);
    const auto body = [](plasma& s) { return go(s, 12); };
    const run one = on(1, p, {.backend = "os", .pool = {.workers = 1}, .single = single}, body);
    ASSERT_EQ(one.errors, std::vector<std::string>{""});
    EXPECT_EQ(one.all.size(), 9u);
    for (const int ranks : {2, 3})
      EXPECT_TRUE(same(one, on(ranks, p, {.pool = {.workers = 2}, .single = single}, body))) << ranks;
    plan other = p;
    other.seed = 8;
    EXPECT_FALSE(same(one, on(1, other, {.pool = {.workers = 1}, .single = single}, body)));
  }
}

TEST(plasma, is_bitwise_identical_while_patches_move) {
  plan p = electrons_and_ions(2, 1, 12, 4);
  p = between(p, 0, field_boundary::conducting, particle_boundary::thermal, particle_boundary::absorbed);
  p.wall_temperature = 0.04;
  const run still = on(1, p, {.pool = {.workers = 1}}, [](plasma& s) { return go(s, 20); });
  ASSERT_EQ(still.errors, std::vector<std::string>{""});
  const run moved = on(3, p, {.pool = {.workers = 1}, .estimate = std::vector<double>(16, 1.0)}, [](plasma& s) {
    fill(s, uneven());
    s.start();
    std::vector<double> rows;
    double moves = 0;  // loads are times, so where patches end differs from run to run
    for (int part = 0; part < 5; ++part) {
      const auto more = s.advance(4, false);
      rows.insert(rows.end(), more.begin(), more.end());
      moves += s.balance({.by = part % 2 ? "longest_first" : "hilbert_cut"}).moved;
    }
    EXPECT_GT(moves, 0);
    return rows;
  });
  EXPECT_TRUE(same(still, moved));
  double left = 0;
  for (std::size_t row = 0; row < 20; ++row) left += at(still, p, row, record::at(0, record::left) + 1);
  EXPECT_GT(left, 0);
}

// The times of such short steps are noise, so that "longest_first" moves most patches.
TEST(plasma, is_bitwise_identical_while_patches_move_after_every_step) {
  for (const bool electrostatic : {false, true}) {
    plan p = between(electrons_and_ions(2, 2, 16, 4), 0, field_boundary::conducting, particle_boundary::absorbed,
                     particle_boundary::reflected);
    p.electrostatic = electrostatic;
    const run still = on(1, p, {.pool = {.workers = 1}}, [](plasma& s) { return go(s, 25, true); });
    ASSERT_EQ(still.errors, std::vector<std::string>{""});
    const run moved = on(3, p, {.pool = {.workers = 2}}, [](plasma& s) {
      auto rows = go(s, 1, true);
      double moves = 0;
      for (int step = 1; step < 25; ++step) {
        moves += s.balance({.by = "longest_first"}).moved;
        const auto more = s.advance(1, true);
        rows.insert(rows.end(), more.begin(), more.end());
      }
      EXPECT_GT(moves, 4 * 24);
      return rows;
    });
    EXPECT_TRUE(same(still, moved));
  }
}

TEST(plasma, runs_with_all_particles_in_one_patch) {
  const plan p = between(periodic(1, 1, 8, 2), 0, field_boundary::conducting, particle_boundary::reflected,
                         particle_boundary::reflected);
  const auto crowd = [&](plasma& s) {
    for (const int patch : s.local_patches())
      if (patch == 0) {
        const auto x = make_positions(p, s.mesh(0), 0, 50000, false);
        const std::vector<double> w(x.size(), p.cell_volume() / 50000), drift(3 * x.size()), thermal(3 * x.size(), 0.1);
        s.load(0, 0, {x, w, drift, thermal, false});
      }
    s.start();
    auto rows = s.advance(3, true);
    s.balance({.by = "longest_first"});
    const auto more = s.advance(3, true);
    rows.insert(rows.end(), more.begin(), more.end());
    return rows;
  };
  const run one = on(1, p, {.pool = {.workers = 1}}, crowd);
  ASSERT_EQ(one.errors, std::vector<std::string>{""});
  EXPECT_EQ(at(one, p, 5, record::at(0, record::number)), 200000);
  EXPECT_TRUE(same(one, on(2, p, {.pool = {.workers = 1}}, crowd)));
}

TEST(plasma, resumes_a_checkpoint_bitwise_identical) {
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_plasma_" + std::to_string(::getpid()));
  plan p = electrons_and_ions(1, 3, 16, 4);
  p = between(p, 0, field_boundary::absorbing, particle_boundary::absorbed, particle_boundary::reflected);
  p.layer = 3;
  const run whole = on(1, p, {.pool = {.workers = 1}}, [](plasma& s) {
    go(s, 7);
    return s.advance(9, false);
  });
  const run before = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    auto rows = go(s, 7);
    s.save(folder);
    return rows;
  });
  ASSERT_EQ(before.errors, std::vector<std::string>(2));
  const run after = on(3, p, {.pool = {.workers = 1}, .folder = folder}, [](plasma& s) {
    EXPECT_EQ(s.step(), 7);
    return s.advance(9, false);
  });
  EXPECT_TRUE(same(whole, after));
  std::filesystem::remove_all(folder);
}

// Each particle is identified by its weight; particles of both species have different ids.
TEST(plasma, particles_keep_their_ids_in_any_patch) {
  for (const bool single : {false, true}) {
    plan p = between(electrons_and_ions(2, 1, 12, 4), 0, field_boundary::conducting, particle_boundary::absorbed,
                     particle_boundary::reflected);
    p.species_list[1].tracked = true;
    std::mutex guard;
    const auto collect = [&](plasma& s, std::map<std::uint64_t, double>& all) {
      std::lock_guard lock(guard);
      for (const int patch : s.local_patches())
        for (std::size_t k = 0; k < 2; ++k) {
          const particle_view view = s.particles(patch, k);
          ASSERT_EQ(view.id.size(), view.w.size());
          for (std::size_t i = 0; i < view.w.size(); ++i) EXPECT_TRUE(all.emplace(view.id[i], view.w[i]).second);
        }
    };
    std::map<std::uint64_t, double> before, after;
    const run one = on(2, p, {.pool = {.workers = 2}, .single = single}, [&](plasma& s) {
      filling start = uneven();
      start.density = [](const double* x) { return 1 + 0.1 * x[0] + 0.01 * x[1]; };
      fill(s, start);
      collect(s, before);
      s.start();
      s.advance(15, false);
      s.balance({.by = "longest_first"});
      auto rows = s.advance(15, false);
      collect(s, after);
      return rows;
    });
    ASSERT_EQ(one.errors, std::vector<std::string>(2));
    EXPECT_EQ(before.size(), 2u * 3 * 12 * 13);
    EXPECT_LT(after.size(), before.size());  // some have left
    EXPECT_GT(after.size(), before.size() / 2);
    for (const auto& [id, weight] : after) EXPECT_EQ(before.at(id), weight);
  }
}

TEST(plasma, gauss_holds_to_rounding_in_every_step) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order)
      for (const bool single : {false, true}) {
        const plan p = electrons_and_ions(dimensions, order, dimensions == 3 ? 6 : 8, 2);
        const run result =
            on(1, p, {.pool = {.workers = 1}, .single = single}, [](plasma& s) { return go(s, 10, true); });
        ASSERT_EQ(result.errors, std::vector<std::string>{""});
        for (std::size_t row = 0; row < 10; ++row) {
          EXPECT_LT(at(result, p, row, record::gauss(p)), single ? 3e-5 : 5e-14) << dimensions << " " << order;
          EXPECT_GT(at(result, p, row, record::energies), 0);
        }
      }
}

TEST(plasma, gauss_holds_at_every_particle_boundary) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order)
      for (const particle_boundary w :
           {particle_boundary::absorbed, particle_boundary::reflected, particle_boundary::thermal}) {
        plan p = electrons_and_ions(dimensions, order, 8, 2);
        p.wall_temperature = 0.3;
        for (int d = 0; d < dimensions; ++d) p = between(p, d, field_boundary::conducting, w, w);
        const run result =
            on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) { return go(s, dimensions == 3 ? 5 : 15, true); });
        ASSERT_EQ(result.errors, std::vector<std::string>{""});
        double left = 0;
        for (std::size_t row = 0; row < rows_of(result, p); ++row) {
          EXPECT_LT(at(result, p, row, record::gauss(p)), 1e-13) << dimensions << " " << order << " " << int(w);
          for (std::size_t side = 0; side < 6; ++side) left += at(result, p, row, record::at(0, record::left) + side);
        }
        EXPECT_EQ(left > 0, w == particle_boundary::absorbed);
      }
}

// Also where particles end in a conductor whose surface their shapes reach through, at the sides of patches.
TEST(plasma, gauss_holds_around_conductors) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions)
    for (int order = 1; order <= 3; ++order) {
      plan p = electrons_and_ions(dimensions, order, 8, 2);
      p.conductors = {{block(p, {3, 3, 3}, {5, 6, 6}), 0}};
      p.check();
      const auto body = [&](plasma& s) { return go(s, dimensions == 3 ? 5 : 15, true); };
      const run result = on(1, p, {.pool = {.workers = 1}}, body);
      ASSERT_EQ(result.errors, std::vector<std::string>{""});
      double absorbed = 0;
      for (std::size_t row = 0; row < rows_of(result, p); ++row) {
        EXPECT_LT(at(result, p, row, record::gauss(p)), 1e-13) << dimensions << " " << order;
        absorbed += at(result, p, row, record::at(0, record::absorbed));
      }
      EXPECT_GT(absorbed, 0);
      EXPECT_TRUE(same(result, on(2, p, {.pool = {.workers = 2}}, body)));
    }
}

// Cold electrons that were pushed: E_x ~ sin(w_p t), so its energy has the period pi.
TEST(plasma, cold_electrons_swing_at_the_plasma_frequency) {
  plan p = periodic(1, 2, 32, 4);
  p.lengths[0] = 2 * std::numbers::pi, p.dt = 0.05;
  const double k = 1;
  const run result = on(1, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    fill(s, {.per_cell = 20,
             .even = true,
             .drift = [&](std::size_t, const double* x) { return std::array{0.01 * std::sin(k * x[0]), 0.0, 0.0}; },
             .thermal = 0});
    s.start();
    return s.advance(int(10 * std::numbers::pi / p.dt), false);
  });
  double last = 0, first = 0;
  int zeros = 0;
  for (std::size_t row = 1; row + 1 < rows_of(result, p); ++row) {
    const auto energy = [&](std::size_t n) { return at(result, p, n, record::energies); };
    if (energy(row) < energy(row - 1) && energy(row) <= energy(row + 1)) {
      const double bend = energy(row - 1) - 2 * energy(row) + energy(row + 1);
      last = at(result, p, row, record::time) + 0.5 * p.dt * (energy(row - 1) - energy(row + 1)) / bend;
      if (zeros++ == 0) first = last;
    }
  }
  ASSERT_GE(zeros, 8);
  EXPECT_NEAR((last - first) / (zeros - 1), std::numbers::pi, 0.005 * std::numbers::pi);
}

TEST(plasma, energy_is_conserved) {
  plan p = electrons_and_ions(2, 2, 16, 2);
  const run result = on(1, p, {.pool = {.workers = 1}}, [](plasma& s) {
    fill(s, {.per_cell = 16, .thermal = 0.2});
    s.start();
    return s.advance(100, false);
  });
  const auto total = [&](std::size_t row) {  // fields of t and momenta of t - dt/2 and t + dt/2
    double e = 0;
    for (std::size_t c = 0; c < 6; ++c) e += at(result, p, row, record::energies + c);
    for (std::size_t s = 0; s < 2; ++s)
      e += 0.5 * (at(result, p, row, record::at(s, record::kinetic)) +
                  at(result, p, row + 1, record::at(s, record::kinetic)));
    return e;
  };
  EXPECT_NEAR(total(98) / total(0), 1, 3e-3);
  const auto kinetic = at(result, p, 0, record::at(0, record::kinetic));
  const auto electric = at(result, p, 50, record::energies);
  EXPECT_GT(electric, 1e-4 * kinetic);  // the plasma is not at rest
}

TEST(plasma, patches_are_distributed_by_their_estimate) {
  const plan p = periodic(1, 1, 16, 8);
  std::vector<int> where;
  const run result = on(2, p, {.pool = {.workers = 1}, .estimate = {7, 1, 1, 1, 1, 1, 1, 1}}, [&](plasma& s) {
    const auto homes = s.homes();
    for (const int patch : s.local_patches()) {
      static std::mutex guard;
      std::lock_guard lock(guard);
      where.push_back(patch);
    }
    EXPECT_EQ(std::ranges::count(homes, homes[0]), 1);
    return std::vector<double>();
  });
  ASSERT_EQ(result.errors, std::vector<std::string>(2));
  std::ranges::sort(where);
  EXPECT_EQ(where, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

/// Returns the error of making a plasma and of body on one rank.
std::string error_of(
    const plan& p, const plasma_options& options, const std::function<void(plasma&)>& body = [](plasma&) {}) {
  return on(1, p, options,
            [&](plasma& s) {
              body(s);
              return std::vector<double>();
            })
      .errors.at(0);
}

TEST(plasma, misuse_is_an_error) {
  const plan p = periodic(1, 1, 16, 4);
  const plasma_options options{.pool = {.workers = 1}};
  EXPECT_EQ(error_of(p, {.pool = {.workers = 1}, .estimate = {1, 2}}), "estimate: 2 loads for 4 patches");
  EXPECT_NE(error_of(p, {.pool = {.workers = 1}, .folder = "/nowhere"}), "");
  EXPECT_EQ(error_of(p, options, [](plasma& s) { s.field(4, "ex"); }), "patch 4 is not on this rank");
  EXPECT_EQ(error_of(p, options, [](plasma& s) { s.mesh(4); }), "there is no patch 4");
  EXPECT_EQ(error_of(p, options, [](plasma& s) { s.field(0, "e"); }),
            "\"e\" is not a field: ex ... bz, jx ... jz, rho, phi");
  EXPECT_EQ(error_of(p, options, [](plasma& s) { s.field(0, "phi"); }), "phi is a field of electrostatic plans");
  EXPECT_EQ(error_of(p, options, [](plasma& s) { s.particles(0, 1); }), "species 1 of 1");
  EXPECT_EQ(error_of(p, options, [](plasma& s) { s.advance(0, false); }), "advance: 0 steps");
  const std::vector<double> few(3);
  EXPECT_EQ(error_of(p, options, [&](plasma& s) { s.set_fields(0, few, few); }),
            "set_fields: patch 0 needs 3 x 4 numbers of a field");
  EXPECT_NE(error_of(p, options, [](plasma& s) { s.advance(1, true); }).find("before the start"), std::string::npos);
}

// A momentum becomes infinite on one rank.
TEST(plasma, an_error_of_one_rank_is_reported_on_all) {
  const plan p = periodic(1, 1, 16, 4);
  const run result = on(3, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    for (const int patch : s.local_patches()) {
      std::vector<double> e(12), b(12);
      if (patch == 3) e[2] = 1e308;
      s.set_fields(patch, e, b);
    }
    fill(s, {.per_cell = 4});
    s.start();
    return s.advance(5, false);
  });
  for (const auto& error : result.errors) {
    EXPECT_NE(error.find("patches (3, 0, 0)"), std::string::npos) << error;
    EXPECT_NE(error.find("species \"electrons\": the energy of its particles is not finite"), std::string::npos)
        << error;
  }
}

}  // namespace
}  // namespace plaq::pic
