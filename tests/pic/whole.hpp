// Whole plasmas, on ranks that are threads of one process.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../collection/network.hpp"
#include "plans.hpp"
#include "plaq/pic/mesh/record.hpp"
#include "plaq/pic/plasma.hpp"

namespace plaq::pic::test {

/// Expects check() to refuse the plan with these words.
inline void expect_refused(const plan& p, const std::string& words) {
  try {
    p.check();
    ADD_FAILURE() << words;
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

/// Fields, then particles of each patch: equal for bitwise identical plasmas.
using contents = std::map<int, std::vector<double>>;

inline void add_contents(plasma& s, contents& to) {
  for (const int patch : s.local_patches()) {
    auto& all = to[patch];
    const auto add = [&](const std::vector<double>& more) { all.insert(all.end(), more.begin(), more.end()); };
    for (const auto& name : field_names())
      if (name != "rho" && (name != "phi" || s.parameters().electrostatic) &&
          !(name[0] == 'j' && s.parameters().cylinder && s.parameters().electrostatic))
        for (int part = 0; part < 2 * s.parameters().modes - 1; ++part) add(s.field(patch, name, part));
    for (std::size_t k = 0; k < s.parameters().species_list.size(); ++k) {
      const particle_view view = s.particles(patch, k);
      add(view.x), add(view.u), add(view.w), add(view.azimuth), add({view.id.begin(), view.id.end()});
    }
  }
}

/// Initial state: `per_cell` particles of every species in each cell, all species at the same positions, u = drift +
/// thermal numbers / sqrt(m).
struct filling {
  int per_cell = 4;
  bool even = false;
  std::function<std::array<double, 3>(std::size_t species, const double* x)> drift = {};
  double thermal = 0.1;
  std::function<double(const double* x)> density = {};
};

inline void fill(plasma& s, const filling& how) {
  const plan& p = s.parameters();
  const auto dims = std::size_t(p.dimensions);
  for (const int patch : s.local_patches())
    for (std::size_t k = 0; k < p.species_list.size(); ++k) {
      const auto x = make_positions(p, s.mesh(patch), 0, how.per_cell, how.even);
      const std::size_t n = x.size() / dims;
      std::vector<double> w(n), drift(3 * n), thermal(3 * n, how.thermal / std::sqrt(p.species_list[k].mass));
      for (std::size_t i = 0; i < n; ++i) {
        w[i] = p.cell_volume() / how.per_cell * (how.density ? how.density(x.data() + dims * i) : 1);
        if (how.drift) std::ranges::copy(how.drift(k, x.data() + dims * i), drift.begin() + std::ptrdiff_t(3 * i));
      }
      s.load(patch, k, {x, w, drift, thermal, false});
    }
}

/// Result of a run.
struct run {
  std::vector<double> rows = {};
  contents all = {};
  std::vector<std::string> errors = {};  ///< of each rank; empty: none
};

/// Runs body(plasma), which returns rows, on so many ranks; returns the rows of rank 0 and the final state.
inline run on(int ranks, const plan& p, const plasma_options& options,
              const std::function<std::vector<double>(plasma&)>& body, unsigned seed = 1) {
  run out;
  std::mutex guard;
  out.errors = plaq::test::on_ranks(ranks, seed, [&](const comm::communicator& world) {
    const auto s = make_plasma(p, world, options);
    auto rows = body(*s);
    std::lock_guard lock(guard);
    add_contents(*s, out.all);
    if (world.rank() == 0) out.rows = std::move(rows);
  });
  return out;
}

/// Returns the number in a row and a column.
inline double at(const run& of, const plan& p, std::size_t row, std::size_t column) {
  return of.rows[row * record::length(p) + column];
}
/// Returns the number of rows.
inline std::size_t rows_of(const run& of, const plan& p) { return of.rows.size() / record::length(p); }

/// Returns whether two runs are bitwise identical, but for residuals of Gauss's law that were not computed.
inline bool same(const run& a, const run& b) {
  return a.all == b.all && a.rows.size() == b.rows.size() &&
         std::ranges::equal(a.rows, b.rows, [](double x, double y) { return x == y || (x != x && y != y); });
}

/// Runs 12 steps from the state of begin(plasma), on one rank; expects the same bits on 2 and 3 ranks, and where a run
/// on 2 ranks is balanced and stopped after 5 steps and resumes on 3.
inline run same_on_any_ranks(const plan& p, const std::function<void(plasma&)>& begin) {
  const auto whole = [&](plasma& s) { return begin(s), s.advance(12, true); };
  const run one = on(1, p, {.pool = {.workers = 1}}, whole);
  EXPECT_EQ(one.errors, std::vector<std::string>{""});
  for (const int ranks : {2, 3}) EXPECT_TRUE(same(one, on(ranks, p, {.pool = {.workers = 2}}, whole))) << ranks;
  const auto folder = std::filesystem::temp_directory_path() / ("plaq_ranks_" + std::to_string(::getpid()));
  const run first = on(2, p, {.pool = {.workers = 1}}, [&](plasma& s) {
    begin(s);
    auto rows = s.advance(5, true);
    s.balance({.by = "longest_first"});
    s.save(folder);
    return rows;
  });
  EXPECT_EQ(first.errors, std::vector<std::string>(2));
  run second = on(3, p, {.pool = {.workers = 1}, .folder = folder}, [](plasma& s) { return s.advance(7, true); });
  second.rows.insert(second.rows.begin(), first.rows.begin(), first.rows.end());
  EXPECT_TRUE(same(one, second));
  std::filesystem::remove_all(folder);
  return one;
}

/// Returns the sum of a column over all rows.
inline double sum_of(const run& of, const plan& p, std::size_t column) {
  double sum = 0;
  for (std::size_t row = 0; row < rows_of(of, p); ++row) sum += at(of, p, row, column);
  return sum;
}

}  // namespace plaq::pic::test
