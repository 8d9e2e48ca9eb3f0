#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plaq/lqcd/dirac/doublet.hpp"
#include "plaq/lqcd/dirac/quark_smearing.hpp"
#include "plaq/lqcd/gauge/ape_smearing.hpp"
#include "plaq/lqcd/gauge/flow.hpp"
#include "plaq/lqcd/gauge/gauge.hpp"
#include "plaq/lqcd/gauge/gauge_fixing.hpp"
#include "plaq/lqcd/gauge/loops.hpp"
#include "plaq/lqcd/gauge/momenta.hpp"
#include "plaq/lqcd/lattice/contraction.hpp"
#include "plaq/lqcd/lattice/random_fields.hpp"
#include "plaq/lqcd/solver/solver.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::lqcd;

namespace {

using free_gil = nb::call_guard<nb::gil_scoped_release>;

/// Context that owns its workers.
struct owned_context {
  owned_context(plaq::comm::messenger& messages, plaq::comm::collectives& collectives, const std::string& backend,
                const plaq::task::options& pool)
      : workers(make_workers(backend, pool)), ctx{*workers, messages, collectives} {}
  std::unique_ptr<plaq::lqcd::workers> workers;
  context ctx;
};

using gauge_links = links<double>;
using spinor = spinors<double>;
using spinor_pair = flavours<double>;

/// Returns a view of a field's memory, [group, ..., re or im, lane].
template <class Field>
auto array_of(nb::handle_t<Field> self, std::vector<std::size_t> of_site) {
  Field& f = nb::cast<Field&>(self);
  std::vector<std::size_t> shape{std::size_t(f.groups())};
  shape.insert(shape.end(), of_site.begin(), of_site.end());
  shape.insert(shape.end(), {2, std::size_t(f.lanes())});
  return nb::ndarray<nb::numpy, double>(f.data(), shape.size(), shape.data(), self);
}

nb::ndarray<nb::numpy, std::int32_t> sites_of(const site_layout& layout) {
  auto* numbers = new std::vector<std::int32_t>;
  nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  for_each_site(layout, [&](const coordinates& x, site_layout::location) {
    numbers->insert(numbers->end(), x.begin(), x.end());
  });
  return nb::ndarray<nb::numpy, std::int32_t>(numbers->data(),
                                              {std::size_t(layout.groups()), std::size_t(layout.lanes()), 4}, owner);
}

/// Complex numbers of a rank's box, [t, x, y, z, ...].
using box_numbers = nb::ndarray<const std::complex<double>, nb::c_contig, nb::device::cpu>;

/// Propagator [t, x, y, z, spin, colour, source spin, source colour].
quark_line line_of(const box_numbers& S) { return {int(S.shape(6)), int(S.shape(7)), S.data()}; }

/// Returns an array that owns its numbers.
nb::ndarray<nb::numpy, std::complex<double>> owned(std::vector<std::complex<double>>&& values,
                                                   const std::vector<std::size_t>& shape) {
  auto* numbers = new std::vector<std::complex<double>>(std::move(values));
  nb::capsule owner(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::complex<double>>*>(p); });
  return {numbers->data(), shape.size(), shape.data(), owner};
}

void bind_layout(nb::module_& m) {
  m.def("choose_grid", &choose_grid, "ranks"_a, "extents"_a, "Return the grid of ranks with the smallest surface.");

  m.def(
      "choose_layout",
      [](const coordinates& extents, const coordinates& grid) {
        const lattice lat(extents, grid);
        return std::pair(lat.local(), choose_sub_boxes(lat, max_lanes<double>()).lanes);
      },
      "extents"_a, "grid"_a, "Return (extents of a rank's box, lanes) of a layout.");

  nb::class_<site_layout>(m, "Layout", "Layout of a rank's sites in memory.")
      .def(
          "__init__",
          [](site_layout* self, const coordinates& extents, const coordinates& grid, int rank, int lanes) {
            new (self) site_layout(lattice(extents, grid, rank),
                                   lanes ? std::min(lanes, max_lanes<double>()) : max_lanes<double>());
          },
          "extents"_a, "grid"_a, "rank"_a, "lanes"_a = 0, "lanes: 0 takes as many as a register has.")
      .def_prop_ro("extents", [](const site_layout& w) { return w.lattice().extents; })
      .def_prop_ro("grid", [](const site_layout& w) { return w.lattice().grid; })
      .def_prop_ro("local", [](const site_layout& w) { return w.lattice().local(); })
      .def_prop_ro("origin", [](const site_layout& w) { return w.lattice().origin(); })
      .def_prop_ro("lanes", &site_layout::lanes)
      .def("sites", &sites_of, "Return [group, lane, 4]: local coordinates.");

  nb::class_<owned_context>(m, "Context", "Workers of this rank and its connections to the other ranks.")
      .def(nb::init<plaq::comm::messenger&, plaq::comm::collectives&, const std::string&, const plaq::task::options&>(),
           "messages"_a, "collectives"_a, "backend"_a, "pool"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
}

void bind_fields(nb::module_& m) {
  nb::class_<gauge_links>(m, "Links")
      .def(nb::init<std::shared_ptr<const site_layout>>(), "layout"_a)
      .def("copy", [](const gauge_links& u) { return gauge_links(u); })
      .def_prop_ro("array", [](nb::handle_t<gauge_links> self) { return array_of(self, {4, 3, 3}); })
      .def(
          "hot", [](gauge_links& u, std::uint64_t seed) { hot_start(u, seed); }, "seed"_a, free_gil())
      .def("cold", [](gauge_links& u) { cold_start(u); }, free_gil());
  nb::class_<spinor>(m, "Spinors")
      .def(
          "__init__",
          [](spinor* self, std::shared_ptr<const site_layout> layout, bool odd) {
            new (self) spinor(std::move(layout), odd ? sites::odd : sites::all);
          },
          "layout"_a, "odd"_a = false)
      .def_prop_ro("odd", [](const spinor& psi) { return psi.subset() == sites::odd; })
      .def("copy", [](const spinor& psi) { return spinor(psi); })
      .def_prop_ro("array", [](nb::handle_t<spinor> self) { return array_of(self, {4, 3}); })
      .def(
          "gaussian", [](spinor& psi, std::uint64_t seed, std::uint32_t number) { gaussian(psi, seed, number); },
          "seed"_a, "number"_a = 0, free_gil())
      .def(
          "pseudofermion",
          [](spinor& psi, std::uint64_t seed, std::uint32_t trajectory, std::uint32_t term) {
            gaussian(psi, {seed, trajectory, term, random_purpose::pseudofermion});
          },
          "seed"_a, "trajectory"_a, "term"_a, free_gil());

  m.def(
      "dot",
      [](const owned_context& c, const spinor& x, const spinor& y) {
        auto ctx = c.ctx;
        return dot(ctx, x, y);
      },
      "context"_a, "x"_a, "y"_a, free_gil());
  m.def(
      "norm2",
      [](const owned_context& c, const spinor& x) {
        auto ctx = c.ctx;
        return norm2(ctx, x);
      },
      "context"_a, "x"_a, free_gil());
}

void bind_gauge(nb::module_& m) {
  m.def(
      "plaquette",
      [](owned_context& c, const gauge_links& u) {
        const auto p = plaquette(c.ctx, u);
        return std::pair(p.temporal, p.spatial);
      },
      "context"_a, "links"_a, "Return averages (with direction t, without).", free_gil());
  m.def(
      "heat_bath",
      [](owned_context& c, gauge_links& u, double beta, double c1, std::uint64_t seed, std::uint32_t chain,
         std::uint32_t sweep) {
        c.workers->run("heat bath", [&] { heat_bath(c.ctx, u, {beta, c1}, {seed, chain, sweep}); });
      },
      "context"_a, "links"_a, "beta"_a, "c1"_a, "seed"_a, "chain"_a, "sweep"_a, free_gil());
  m.def(
      "over_relax",
      [](owned_context& c, gauge_links& u, double c1) {
        c.workers->run("over-relaxation", [&] { over_relax(c.ctx, u, c1); });
      },
      "context"_a, "links"_a, "c1"_a, free_gil());
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

/// Returns sums(phases), computed without Python's lock, as [momentum, t, shape ...].
template <class Sums>
auto by_momentum(const site_layout& layout, const box_numbers& phases, std::vector<std::size_t> shape, Sums&& sums) {
  const std::size_t momenta = phases.shape(0);
  std::vector<std::complex<double>> values;
  {
    nb::gil_scoped_release free;
    values = sums(momentum_phases{int(momenta), phases.data()});
  }
  shape.insert(shape.begin(), {momenta, std::size_t(layout.lattice().extents[0])});
  return owned(std::move(values), shape);
}

void bind_quarks(nb::module_& m) {
  m.def(
      "gaussian_smear",
      [](owned_context& c, spinor& psi, const gauge_links& u, double kappa, int times, const angles& theta) {
        c.workers->run("smear", [&] { gaussian_smear(c.ctx, psi, u, kappa, times, theta); });
      },
      "context"_a, "psi"_a, "links"_a, "kappa"_a, "times"_a, "theta"_a, free_gil());

  m.def(
      "slice_sums",
      [](owned_context& c, const site_layout& layout, const box_numbers& f) {
        std::vector<std::complex<double>> values;
        {
          nb::gil_scoped_release free;
          values = slice_sums(c.ctx, layout.lattice(), f.data());
        }
        return owned(std::move(values), {std::size_t(layout.lattice().extents[0])});
      },
      "context"_a, "layout"_a, "f"_a, "Return [t] of f [t, x, y, z].");
  m.def(
      "spin_tensor",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S,
         const box_numbers& other) {
        const std::size_t spins = S.shape(6);
        return by_momentum(layout, phases, {4, spins, 4, spins}, [&](const momentum_phases& of) {
          return spin_tensor(c.ctx, layout.lattice(), of, line_of(S), line_of(other));
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S"_a, "other"_a,
      "Return [momentum, t, a, b, c, d] of [t, x, y, z, spin, colour, spin, colour] and phases [momentum, x, y, z].");
  m.def(
      "meson_sums",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S,
         const box_numbers& other, const box_numbers& rows) {
        return by_momentum(layout, phases, {rows.shape(0)}, [&](const momentum_phases& of) {
          return meson_sums(c.ctx, layout.lattice(), of, line_of(S), line_of(other), int(rows.shape(0)), rows.data());
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S"_a, "other"_a, "coefficients"_a,
      "Return [momentum, t, row] for rows of coefficients of the numbers of spin_tensor.");
  m.def(
      "baryon_tensor",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S1,
         const box_numbers& S2, const box_numbers& S3) {
        return by_momentum(layout, phases, {4, 4, 4, 4, 4, 4}, [&](const momentum_phases& of) {
          return baryon_tensor(c.ctx, layout.lattice(), of, S1.data(), S2.data(), S3.data());
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S1"_a, "S2"_a, "S3"_a,
      "Return [momentum, t, a, b, c, d, e, f] of three propagators and phases [momentum, x, y, z].");
  m.def(
      "baryon_sums",
      [](owned_context& c, const site_layout& layout, const box_numbers& phases, const box_numbers& S1,
         const box_numbers& S2, const box_numbers& S3, const box_numbers& rows) {
        return by_momentum(layout, phases, {rows.shape(0)}, [&](const momentum_phases& of) {
          return baryon_sums(c.ctx, layout.lattice(), of, S1.data(), S2.data(), S3.data(), int(rows.shape(0)),
                             rows.data());
        });
      },
      "context"_a, "layout"_a, "phases"_a, "S1"_a, "S2"_a, "S3"_a, "coefficients"_a,
      "Return [momentum, t, row] for rows of 4096 coefficients of the numbers of baryon_tensor.");
  m.def(
      "transport",
      [](owned_context& c, const spinor& psi, const gauge_links& u, int mu, int step, const angles& theta) {
        std::optional<spinor> out;
        c.workers->run("transport", [&] { out.emplace(transport(c.ctx, psi, u, mu, step, theta)); });
        return std::move(*out);
      },
      "context"_a, "psi"_a, "links"_a, "mu"_a, "step"_a, "theta"_a, free_gil());
}

void bind_momenta(nb::module_& m) {
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

void bind_wilson(nb::module_& m) {
  using matrix = wilson<double>;
  nb::class_<matrix>(m, "Wilson", "Operator of Wilson or twisted-mass fermions on a copy of a gauge field.")
      .def(
          "__init__",
          [](matrix* self, owned_context& c, const gauge_links& u, double kappa, double mu, const angles& theta,
             double csw, bool exponential, bool open, double cF) {
            new (self) matrix(c.ctx, u, {kappa, mu, theta, csw, exponential, open, cF}, u.shared_layout());
          },
          "context"_a, "links"_a, "kappa"_a, "mu"_a, "theta"_a, "csw"_a, "exponential"_a = false, "open"_a = false,
          "cF"_a = 1.0, nb::keep_alive<1, 2>(), free_gil())
      .def(
          "apply",
          [](matrix& M, spinor& out, const spinor& in, bool dagger) {
            M.ctx().workers.run("apply", [&] { M.apply(out, in, dagger); });
          },
          "out"_a, "in"_a, "dagger"_a, free_gil())
      .def(
          "apply_odd",
          [](matrix& M, spinor& out, const spinor& in, bool dagger, double twist) {
            M.ctx().workers.run("apply", [&] { M.apply_odd(out, in, dagger, twist); });
          },
          "out"_a, "in"_a, "dagger"_a, "twist"_a = 0.0, free_gil())
      .def(
          "derivative",
          [](matrix& M, gauge_links& out, const gauge_links& u, const spinor& X, const spinor& Y) {
            M.ctx().workers.run("derivative", [&] { M.derivative(out, u, X, Y); });
          },
          "out"_a, "links"_a, "X"_a, "Y"_a, free_gil())
      .def(
          "prepare",
          [](matrix& M, spinor& odd, const spinor& eta) {
            M.ctx().workers.run("prepare", [&] { M.prepare(odd, eta); });
          },
          "odd"_a, "eta"_a, free_gil())
      .def(
          "complete",
          [](matrix& M, spinor& psi, const spinor& eta) {
            M.ctx().workers.run("complete", [&] { M.complete(psi, eta); });
          },
          "psi"_a, "eta"_a, free_gil())
      .def_prop_ro("log_det_even", &matrix::log_det_even)
      .def("log_det_derivative", &matrix::log_det_derivative, "out"_a, "links"_a, free_gil());
}

void bind_doublet(nb::module_& m) {
  nb::class_<spinor_pair>(m, "Flavours", "Spinors of two flavours.")
      .def(
          "__init__",
          [](spinor_pair* self, const std::shared_ptr<const site_layout>& layout, bool odd) {
            const auto subset = odd ? sites::odd : sites::all;
            new (self) spinor_pair{spinor(layout, subset), spinor(layout, subset)};
          },
          "layout"_a, "odd"_a = false)
      .def("copy", [](const spinor_pair& psi) { return spinor_pair(psi); })
      .def_prop_ro(
          "up", [](spinor_pair& psi) -> spinor& { return psi.up; }, nb::rv_policy::reference_internal)
      .def_prop_ro("down", [](spinor_pair& psi) -> spinor& { return psi.down; }, nb::rv_policy::reference_internal);
  using matrix = doublet<double>;
  nb::class_<matrix>(m, "Doublet", "Operator of two twisted flavours with different masses on a copy of a gauge field.")
      .def(
          "__init__",
          [](matrix* self, owned_context& c, const gauge_links& u, double kappa, double mu, double epsilon,
             const angles& theta, double csw, bool exponential, bool open, double cF) {
            new (self) matrix(c.ctx, u, {kappa, mu, epsilon, theta, csw, exponential, open, cF}, u.shared_layout());
          },
          "context"_a, "links"_a, "kappa"_a, "mu"_a, "epsilon"_a, "theta"_a, "csw"_a, "exponential"_a = false,
          "open"_a = false, "cF"_a = 1.0, nb::keep_alive<1, 2>(), free_gil())
      .def("apply", &matrix::apply, "out"_a, "in"_a, "dagger"_a, free_gil())
      .def("apply_odd", &matrix::apply_odd, "out"_a, "in"_a, "dagger"_a, free_gil())
      .def(
          "derivative",
          [](matrix& M, gauge_links& out, const gauge_links& u, const spinor_pair& X, const spinor_pair& Y) {
            M.derivative(out, u, X, Y);
          },
          "out"_a, "links"_a, "X"_a, "Y"_a, free_gil())
      .def_prop_ro("log_det_even", &matrix::log_det_even)
      .def("log_det_derivative", &matrix::log_det_derivative, "out"_a, "links"_a, free_gil());
}

/// Binds the solver of an operator.
template <class Operator>
auto bind_solver_of(nb::module_& m, const char* name) {
  using vector = typename Operator::vector;
  return nb::class_<solver<Operator>>(m, name, "Solver of M psi = eta for an operator.")
      .def(nb::init<Operator&>(), "operator"_a, nb::keep_alive<1, 2>())
      .def(
          "solve",
          [](solver<Operator>& s, vector& psi, const vector& eta, solver_method method, precision steps,
             double residual, int max_steps) {
            return s.solve(psi, eta, {.method = method, .steps = steps, .residual = residual, .max_steps = max_steps});
          },
          "psi"_a, "eta"_a, "method"_a, "steps"_a, "residual"_a, "max_steps"_a, free_gil())
      .def(
          "solve_shifted",
          [](solver<Operator>& s, std::vector<vector*> x, const vector& phi, const std::vector<double>& shifts,
             double residual, int max_steps) {
            std::vector<vector> fields(shifts.size(), phi);
            const auto result = s.solve_shifted(fields, phi, shifts, {.residual = residual, .max_steps = max_steps});
            for (std::size_t i = 0; i < fields.size(); ++i) *x[i] = fields[i];  // views of its memory stay valid
            return result;
          },
          "x"_a, "phi"_a, "shifts"_a, "residual"_a, "max_steps"_a, free_gil());
}

void bind_solvers(nb::module_& m) {
  nb::class_<solver_result>(m, "SolverResult")
      .def_prop_ro("converged",
                   [](const solver_result& r) { return r.reason == solver_result::stop_reason::converged; })
      .def_ro("steps", &solver_result::steps)
      .def_ro("updates", &solver_result::updates)
      .def_ro("residual", &solver_result::residual)
      .def("__str__", &solver_result::to_string);
  nb::enum_<precision>(m, "Precision", "Precision of a solver's steps.")
      .value("double", precision::in_double)
      .value("single", precision::in_single)
      .value("half", precision::in_half);
  nb::enum_<solver_method>(m, "Method", "Method of a solver.")
      .value("cg", solver_method::cg)
      .value("bicgstab", solver_method::bicgstab)
      .value("gcr", solver_method::gcr)
      .value("multigrid", solver_method::multigrid);
  bind_solver_of<doublet<double>>(m, "DoubletSolver");
  bind_solver_of<wilson<double>>(m, "WilsonSolver")
      .def(
          "solve_normal",
          [](solver<wilson<double>>& s, spinor& x, const spinor& phi, double twist, precision steps, double residual,
             int max_steps) {
            return s.solve_normal(x, phi, twist, {.steps = steps, .residual = residual, .max_steps = max_steps});
          },
          "x"_a, "phi"_a, "twist"_a, "steps"_a, "residual"_a, "max_steps"_a, free_gil())
      .def(
          "solve_normal_by_multigrid",
          [](solver<wilson<double>>& s, spinor& x, const spinor& phi, double residual, int max_steps) {
            return s.solve_normal_by_multigrid(x, phi, {.residual = residual, .max_steps = max_steps});
          },
          "x"_a, "phi"_a, "residual"_a, "max_steps"_a, free_gil())
      .def(
          "set_up_from", [](solver<wilson<double>>& s, const solver<wilson<double>>& other) { s.set_up_from(other); },
          "other"_a, free_gil());
}

}  // namespace

void bind_lqcd(nb::module_& m) {
  bind_layout(m);
  bind_fields(m);
  bind_gauge(m);
  bind_quarks(m);
  bind_momenta(m);
  bind_wilson(m);
  bind_doublet(m);
  bind_solvers(m);
}
