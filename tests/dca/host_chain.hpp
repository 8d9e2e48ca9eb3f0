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

/// Chain of these vertices, the walk's vertex i in slot slots[i].
struct host_chain {
  static constexpr int capacity = 64, block = 16;

  host_chain(const exact_model& model, std::vector<vertex> v, std::vector<int> in_slots)
      : vertices(std::move(v)), slots(std::move(in_slots)), g0(view_of(*model.g0)) {
    const vertex_strength strength(model.parameters);
    rules.beta = model.parameters.beta;
    rules.K = model.parameters.K;
    rules.sites = model.parameters.sites;
    rules.strength[0] = strength(1, 1);
    rules.strength[1] = strength(1, -1);
    rules.block_length = block;
    workspace r;
    shared.resize(allocate_shared(r, nullptr, capacity, block));
    global.resize(allocate_global(r, nullptr, capacity));
    allocate_shared(r, shared.data(), capacity, block);
    allocate_global(r, global.data(), capacity);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      r.site[slots[i]] = vertices[i].site;
      r.spin[slots[i]] = vertices[i].spin;
      r.tau[slots[i]] = vertices[i].tau;
      r.slot_of[i] = slots[i];
    }
    m = std::make_unique<matrices<team>>(
        matrices<team>{serial, rules, g0, (*model.g0)(0, 0., 0, 0.), r, capacity, int(vertices.size()), 1.});
  }

  std::vector<vertex> vertices;
  std::vector<int> slots;
  bath_view g0;
  walk_rules rules{};
  std::vector<std::byte> shared, global;
  team serial;
  std::unique_ptr<matrices<team>> m;
};

inline const std::vector<vertex> some_vertices = {{2, 1, 0.4}, {0, -1, 2.5}, {2, -1, 0.1}, {3, 1, 1.7}, {0, 1, 0.6}};
inline const std::vector<int> some_slots = {3, 0, 4, 1, 2};

struct device_kernels : testing::TestWithParam<double> {
  const exact_model model = plaquette(3, 4, GetParam());
  host_chain chain{model, some_vertices, some_slots};
  matrices<team>& m = *chain.m;

  void expect_exact_n() {
    const auto n = model.n(some_vertices);
    for (int side = 0; side < 2; ++side)
      for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j)
          EXPECT_NEAR(m.n(side, some_slots[i], some_slots[j]), n[side](i, j), 1e-10 * (1 + std::abs(n[side](i, j))));
  }
};

}  // namespace plaq::dca::device
