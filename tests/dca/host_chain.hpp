// Chain of a device in memory of the host, for tests of its kernels one by one.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "exact_weights.hpp"
#include "plaq/dca/device/matrices.hpp"
#include "plaq/gpu/team.hpp"

namespace plaq::dca::device {

using team = gpu::serial_team;

inline bath_view view_of(const g0_table& g0) {
  return {g0.beta(),     g0.segments() / g0.beta(), g0.sites(),
          g0.segments(), g0.coefficients().data(),  g0.difference().data()};
}

/// Chain of these vertices.
struct host_chain {
  static constexpr int capacity = 64, block = 16;

  host_chain(const exact_model& model, const std::vector<vertex>& v) : g0(view_of(*model.g0)) {
    const vertex_strength strength(model.parameters);
    rules.beta = model.parameters.beta;
    rules.K = model.parameters.K;
    rules.sites = model.parameters.sites;
    rules.strength[0] = strength(1, 1);
    rules.strength[1] = strength(1, -1);
    rules.block_length = block;
    vertex_arrays r;
    kept.resize(allocate_vertices(r, nullptr, capacity));
    scratch.resize(scratch_bytes(capacity, block));
    allocate_vertices(r, kept.data(), capacity);
    for (std::size_t i = 0; i < v.size(); ++i) {
      r.site[i] = v[i].site;
      r.spin[i] = v[i].spin;
      r.tau[i] = v[i].tau;
    }
    m = std::make_unique<matrices<team>>(matrices<team>{
        serial, rules, g0, (*model.g0)(0, 0., 0, 0.), r, scratch.data(), {}, capacity, int(v.size()), 1.});
  }

  bath_view g0;
  walk_rules rules{};
  std::vector<std::byte> kept, scratch;
  team serial;
  std::unique_ptr<matrices<team>> m;
};

inline const std::vector<vertex> some_vertices = {{2, 1, 0.4}, {0, -1, 2.5}, {2, -1, 0.1}, {3, 1, 1.7}, {0, 1, 0.6}};

struct device_kernels : testing::TestWithParam<double> {
  const exact_model model = plaquette(3, 4, GetParam());
  host_chain chain{model, some_vertices};
  matrices<team>& m = *chain.m;

  void expect_exact_n() {
    const auto n = model.n(some_vertices);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) EXPECT_NEAR(m.n(side, i, j), n[side](i, j), 1e-10 * (1 + std::abs(n[side](i, j))));
  }
};

}  // namespace plaq::dca::device
