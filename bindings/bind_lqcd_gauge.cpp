// Gauge fields: updates, loops, smearing, flow, gauge fixing; momenta.
#include <tuple>
#include <utility>

#include "lqcd.hpp"
#include "plaq/lqcd/gauge/ape_smearing.hpp"
#include "plaq/lqcd/gauge/flow.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/gauge_fixing.hpp"
#include "plaq/lqcd/gauge/loops.hpp"
#include "plaq/lqcd/gauge/momenta.hpp"

namespace plaq::bindings {

void bind_lqcd_gauge(nb::module_& m) {
  m.def(
      "plaquette",
      [](owned_context& c, const gauge_links& u) {
        const auto p = plaquette(c.ctx, u);
        return std::tuple(p.temporal, p.spatial, p.planes);
      },
      "context"_a, "links"_a, "Return averages (with direction t, without, [plane]).", free_gil());
  m.def(
      "heat_bath",
      [](owned_context& c, gauge_links& u, double beta, double c1, std::uint64_t seed, std::uint32_t chain,
         std::uint32_t sweep, int first, int last) {
        c.workers->run("heat bath", [&] { heat_bath(c.ctx, u, {beta, c1}, {seed, chain, sweep}, {first, last}); });
      },
      "context"_a, "links"_a, "beta"_a, "c1"_a, "seed"_a, "chain"_a, "sweep"_a, "first"_a = moving_slices{}.first,
      "last"_a = moving_slices{}.last, "Links of the slices from first to last move (moving_slices).", free_gil());
  m.def(
      "over_relax",
      [](owned_context& c, gauge_links& u, double c1, int first, int last) {
        c.workers->run("over-relaxation", [&] { over_relax(c.ctx, u, c1, {first, last}); });
      },
      "context"_a, "links"_a, "c1"_a, "first"_a = moving_slices{}.first, "last"_a = moving_slices{}.last, free_gil());
  m.def(
      "rectangle", [](owned_context& c, const gauge_links& u) { return rectangle(c.ctx, u); }, "context"_a, "links"_a,
      free_gil());
  m.def(
      "unitarity_violation", [](owned_context& c, const gauge_links& u) { return unitarity_violation(c.ctx, u); },
      "context"_a, "links"_a, free_gil());

  m.def(
      "polyakov_loop", [](owned_context& c, const gauge_links& u, int mu) { return polyakov_loop(c.ctx, u, mu); },
      "context"_a, "links"_a, "mu"_a, free_gil());
  m.def(
      "wilson_loops",
      [](owned_context& c, const gauge_links& across, const gauge_links& along, int max_r, int max_t) {
        return wilson_loops(c.ctx, across, along, max_r, max_t);
      },
      "context"_a, "across"_a, "along"_a, "max_r"_a, "max_t"_a, "Return [r, t], flat.", free_gil());

  m.def(
      "ape_smear",
      [](owned_context& c, gauge_links& u, double alpha, int times) {
        c.workers->run("ape", [&] { ape_smear(c.ctx, u, alpha, times); });
      },
      "context"_a, "links"_a, "alpha"_a, "times"_a, free_gil());
  m.def(
      "flow_step",
      [](owned_context& c, gauge_links& u, double step, int kind) {
        c.workers->run("flow", [&] { flow_step(c.ctx, u, step, flow_kind(kind)); });
      },
      "context"_a, "links"_a, "step"_a, "kind"_a, free_gil());
  m.def(
      "fix_gauge",
      [](owned_context& c, gauge_links& u, int lowest, double relaxation, double tolerance, int max_sweeps) {
        gauge_quality q{};
        c.workers->run("gauge fixing", [&] { q = fix_gauge(c.ctx, u, {lowest, relaxation, tolerance, max_sweeps}); });
        return std::tuple(q.functional, q.theta, q.sweeps);
      },
      "context"_a, "links"_a, "lowest"_a, "relaxation"_a, "tolerance"_a, "max_sweeps"_a,
      "Return (functional, theta, sweeps).", free_gil());
  m.def(
      "energy_and_charge",
      [](owned_context& c, const gauge_links& u) {
        const auto f = energy_and_charge(c.ctx, u);
        return std::pair(f.energy, f.charge);
      },
      "context"_a, "links"_a, "Return (energy, charge).", free_gil());
}

void bind_lqcd_momenta(nb::module_& m) {
  m.def("gaussian_momenta", &gaussian_momenta, "momenta"_a, "seed"_a, "trajectory"_a, free_gil());
  m.def(
      "kinetic_energy",
      [](owned_context& c, const momenta& p) {
        auto ctx = c.ctx;
        return kinetic_energy(ctx, p);
      },
      "context"_a, "momenta"_a, free_gil());
  m.def(
      "move_links",
      [](owned_context& c, gauge_links& u, const momenta& p, double time) {
        c.workers->run("move links", [&] { move_links(c.ctx, u, p, time); });
      },
      "context"_a, "links"_a, "momenta"_a, "time"_a, free_gil());
  m.def(
      "kick",
      [](owned_context& c, momenta& p, const gauge_links& derivative, double factor) {
        c.workers->run("kick", [&] { kick(c.ctx, p, derivative, factor); });
      },
      "context"_a, "momenta"_a, "derivative"_a, "factor"_a, free_gil());
  m.def(
      "action_derivative",
      [](owned_context& c, gauge_links& out, const gauge_links& u, double c1) {
        c.workers->run("force", [&] { action_derivative(c.ctx, out, u, c1); });
      },
      "context"_a, "out"_a, "links"_a, "c1"_a, free_gil());
}

}  // namespace plaq::bindings
