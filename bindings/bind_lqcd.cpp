#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plaq/lqcd/contraction.hpp"
#include "plaq/lqcd/doublet.hpp"
#include "plaq/lqcd/flow.hpp"
#include "plaq/lqcd/gauge.hpp"
#include "plaq/lqcd/loops.hpp"
#include "plaq/lqcd/motion.hpp"
#include "plaq/lqcd/random_fields.hpp"
#include "plaq/lqcd/smear.hpp"
#include "plaq/lqcd/solver.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::lqcd;

namespace {

using free_gil = nb::call_guard<nb::gil_scoped_release>;

/// An engine as Python holds it.
struct owned_engine {
  owned_engine(plaq::comm::messenger& messages, plaq::comm::collectives& together, const std::string& backend,
               const plaq::task::options& pool)
      : hands(make_workers(backend, pool)), by{*hands, messages, together} {}
  std::unique_ptr<workers> hands;
  engine by;
};

/// A view of a field's memory, [block, ..., re or im, lane].
template <class Field>
auto array_of(nb::handle_t<Field> self, std::vector<std::size_t> of_site) {
  Field& f = nb::cast<Field&>(self);
  std::vector<std::size_t> shape{std::size_t(f.blocks())};
  shape.insert(shape.end(), of_site.begin(), of_site.end());
  shape.insert(shape.end(), {2, std::size_t(f.lanes())});
  return nb::ndarray<nb::numpy, double>(f.data(), shape.size(), shape.data(), self);
}

nb::ndarray<nb::numpy, std::int32_t> sites_of(const layout& where) {
  auto* all = new std::vector<std::int32_t>;
  nb::capsule owner(all, [](void* p) noexcept { delete static_cast<std::vector<std::int32_t>*>(p); });
  each_site(where, [&](const coordinates& x, layout::place) { all->insert(all->end(), x.begin(), x.end()); });
  return nb::ndarray<nb::numpy, std::int32_t>(all->data(), {std::size_t(where.blocks()), std::size_t(where.lanes()), 4},
                                              owner);
}

/// Complex numbers of a rank's box, [t, x, y, z, ...].
using box_numbers = nb::ndarray<const std::complex<double>, nb::c_contig, nb::device::cpu>;

/// An array that owns its numbers.
nb::ndarray<nb::numpy, std::complex<double>> owned(std::vector<std::complex<double>>&& numbers,
                                                   const std::vector<std::size_t>& shape) {
  auto* all = new std::vector<std::complex<double>>(std::move(numbers));
  nb::capsule owner(all, [](void* p) noexcept { delete static_cast<std::vector<std::complex<double>>*>(p); });
  return {all->data(), shape.size(), shape.data(), owner};
}

}  // namespace

void bind_lqcd(nb::module_& m) {
  m.def("grid_for", &grid_for, "ranks"_a, "extents"_a, "The grid of so many ranks with the smallest surface.");

  m.def(
      "cut_for",
      [](const coordinates& extents, const coordinates& grid) {
        const lattice on(extents, grid);
        return std::pair(on.local(), cut_for(on, widest<double>()).lanes);
      },
      "extents"_a, "grid"_a, "(extents of a rank's box, lanes) of a layout.");

  nb::class_<layout>(m, "Layout", "Where the sites of a rank lie in memory.")
      .def(
          "__init__",
          [](layout* self, const coordinates& extents, const coordinates& grid, int rank, int lanes) {
            new (self)
                layout(lattice(extents, grid, rank), lanes ? std::min(lanes, widest<double>()) : widest<double>());
          },
          "extents"_a, "grid"_a, "rank"_a, "lanes"_a = 0, "lanes: 0 is as many as a register has.")
      .def_prop_ro("extents", [](const layout& w) { return w.on().extents; })
      .def_prop_ro("grid", [](const layout& w) { return w.on().grid; })
      .def_prop_ro("local", [](const layout& w) { return w.on().local(); })
      .def_prop_ro("origin", [](const layout& w) { return w.on().origin(); })
      .def_prop_ro("lanes", &layout::lanes)
      .def("sites", &sites_of, "[block, lane, 4]: local coordinates.");

  nb::class_<owned_engine>(m, "Engine", "Workers of this rank and messages to the others.")
      .def(nb::init<plaq::comm::messenger&, plaq::comm::collectives&, const std::string&, const plaq::task::options&>(),
           "messages"_a, "together"_a, "backend"_a, "pool"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());

  using gauge = links<double>;
  using spinor = spinors<double>;
  nb::class_<gauge>(m, "Links")
      .def(nb::init<std::shared_ptr<const layout>>(), "layout"_a)
      .def("copy", [](const gauge& u) { return gauge(u); })
      .def_prop_ro("array", [](nb::handle_t<gauge> self) { return array_of(self, {4, 3, 3}); })
      .def(
          "hot", [](gauge& u, std::uint64_t seed) { hot_start(u, seed); }, "seed"_a, free_gil())
      .def("cold", [](gauge& u) { cold_start(u); }, free_gil());
  nb::class_<spinor>(m, "Spinors")
      .def(
          "__init__",
          [](spinor* self, std::shared_ptr<const layout> where, bool odd) {
            new (self) spinor(std::move(where), odd ? sites::odd : sites::all);
          },
          "layout"_a, "odd"_a = false)
      .def_prop_ro("odd", [](const spinor& psi) { return psi.which() == sites::odd; })
      .def("copy", [](const spinor& psi) { return spinor(psi); })
      .def_prop_ro("array", [](nb::handle_t<spinor> self) { return array_of(self, {4, 3}); })
      .def(
          "gaussian", [](spinor& psi, std::uint64_t seed, std::uint32_t number) { gaussian(psi, seed, number); },
          "seed"_a, "number"_a = 0, free_gil())
      .def(
          "pseudofermion",
          [](spinor& psi, std::uint64_t seed, std::uint32_t trajectory, std::uint32_t term) {
            gaussian(psi, {seed, trajectory, term, draws::pseudofermion});
          },
          "seed"_a, "trajectory"_a, "term"_a, free_gil());

  m.def(
      "dot",
      [](const owned_engine& e, const spinor& x, const spinor& y) {
        auto by = e.by;
        return dot(by, x, y);
      },
      "engine"_a, "x"_a, "y"_a, free_gil());
  m.def(
      "norm2",
      [](const owned_engine& e, const spinor& x) {
        auto by = e.by;
        return norm2(by, x);
      },
      "engine"_a, "x"_a, free_gil());

  m.def(
      "plaquette",
      [](owned_engine& e, const gauge& u) {
        const auto p = plaquette(e.by, u);
        return std::pair(p.temporal, p.spatial);
      },
      "engine"_a, "links"_a, "(with direction t, without).", free_gil());
  m.def(
      "heat_bath",
      [](owned_engine& e, gauge& u, double beta, double c1, std::uint64_t seed, std::uint32_t chain,
         std::uint32_t sweep) {
        e.hands->inside("heat bath", [&] { heat_bath(e.by, u, {beta, c1}, {seed, chain, sweep}); });
      },
      "engine"_a, "links"_a, "beta"_a, "c1"_a, "seed"_a, "chain"_a, "sweep"_a, free_gil());
  m.def(
      "over_relax",
      [](owned_engine& e, gauge& u, double c1) {
        e.hands->inside("over-relaxation", [&] { over_relax(e.by, u, c1); });
      },
      "engine"_a, "links"_a, "c1"_a, free_gil());
  m.def(
      "rectangle", [](owned_engine& e, const gauge& u) { return rectangle(e.by, u); }, "engine"_a, "links"_a,
      free_gil());
  m.def(
      "unitarity_violation", [](owned_engine& e, const gauge& u) { return unitarity_violation(e.by, u); }, "engine"_a,
      "links"_a, free_gil());

  m.def(
      "polyakov_loop", [](owned_engine& e, const gauge& u, int mu) { return polyakov_loop(e.by, u, mu); }, "engine"_a,
      "links"_a, "mu"_a, free_gil());
  m.def(
      "wilson_loops",
      [](owned_engine& e, const gauge& across, const gauge& along, int most_r, int most_t) {
        return wilson_loops(e.by, across, along, most_r, most_t);
      },
      "engine"_a, "across"_a, "along"_a, "most_r"_a, "most_t"_a, "[r, t], flat.", free_gil());

  m.def(
      "ape",
      [](owned_engine& e, gauge& u, double alpha, int times) {
        e.hands->inside("ape", [&] { ape(e.by, u, alpha, times); });
      },
      "engine"_a, "links"_a, "alpha"_a, "times"_a, free_gil());
  m.def(
      "gaussian_smear",
      [](owned_engine& e, spinor& psi, const gauge& u, double kappa, int times, const angles& theta) {
        e.hands->inside("smear", [&] { gaussian_smear(e.by, psi, u, kappa, times, theta); });
      },
      "engine"_a, "psi"_a, "links"_a, "kappa"_a, "times"_a, "theta"_a, free_gil());

  m.def(
      "slice_sums",
      [](owned_engine& e, const layout& on, const box_numbers& f) {
        std::vector<std::complex<double>> found;
        {
          nb::gil_scoped_release free;
          found = slice_sums(e.by, on.on(), f.data());
        }
        return owned(std::move(found), {std::size_t(on.on().extents[0])});
      },
      "engine"_a, "layout"_a, "f"_a, "[t] of f [t, x, y, z].");
  m.def(
      "spin_tensor",
      [](owned_engine& e, const layout& on, const box_numbers& S, const box_numbers& other) {
        std::vector<std::complex<double>> found;
        {
          nb::gil_scoped_release free;
          found = spin_tensor(e.by, on.on(), int(S.shape(S.ndim() - 1)), S.data(), other.data());
        }
        return owned(std::move(found), {std::size_t(on.on().extents[0]), 4, 4, 4, 4});
      },
      "engine"_a, "layout"_a, "S"_a, "other"_a, "[t, a, b, c, d] of [t, x, y, z, spin, colour, spin, colour].");

  m.def("gaussian_momenta", &gaussian_momenta, "momenta"_a, "seed"_a, "trajectory"_a, free_gil());
  m.def(
      "kinetic_energy",
      [](owned_engine& e, const momenta& p) {
        auto by = e.by;
        return kinetic_energy(by, p);
      },
      "engine"_a, "momenta"_a, free_gil());
  m.def(
      "move_links",
      [](owned_engine& e, gauge& u, const momenta& p, double time) {
        e.hands->inside("move links", [&] { move_links(e.by, u, p, time); });
      },
      "engine"_a, "links"_a, "momenta"_a, "time"_a, free_gil());
  m.def(
      "kick",
      [](owned_engine& e, momenta& p, const gauge& derivative, double factor) {
        e.hands->inside("kick", [&] { kick(e.by, p, derivative, factor); });
      },
      "engine"_a, "momenta"_a, "derivative"_a, "factor"_a, free_gil());
  m.def(
      "action_derivative",
      [](owned_engine& e, gauge& out, const gauge& u, double c1) {
        e.hands->inside("force", [&] { action_derivative(e.by, out, u, c1); });
      },
      "engine"_a, "out"_a, "links"_a, "c1"_a, free_gil());

  m.def(
      "flow_step",
      [](owned_engine& e, gauge& u, double step) { e.hands->inside("flow", [&] { flow_step(e.by, u, step); }); },
      "engine"_a, "links"_a, "step"_a, free_gil());
  m.def(
      "clover",
      [](owned_engine& e, const gauge& u) {
        const auto f = clover(e.by, u);
        return std::pair(f.energy, f.charge);
      },
      "engine"_a, "links"_a, "(energy, charge).", free_gil());

  nb::class_<solver_result>(m, "SolverResult")
      .def_prop_ro("converged", [](const solver_result& r) { return r.end == solver_result::ending::converged; })
      .def_ro("steps", &solver_result::steps)
      .def_ro("updates", &solver_result::updates)
      .def_ro("residual", &solver_result::residual)
      .def("__str__", &solver_result::in_words);
  nb::enum_<precision>(m, "Precision", "Of a solver's steps.")
      .value("double", precision::in_double)
      .value("single", precision::in_single)
      .value("half", precision::in_half);

  nb::class_<solver>(m, "Wilson", "Wilson or twisted-mass fermions on a gauge field, of which it has a copy.")
      .def(
          "__init__",
          [](solver* self, owned_engine& e, const gauge& u, double kappa, double mu, const angles& theta, double csw) {
            new (self) solver(e.by, u, {kappa, mu, theta, csw});
          },
          "engine"_a, "links"_a, "kappa"_a, "mu"_a, "theta"_a, "csw"_a, nb::keep_alive<1, 2>(), free_gil())
      .def(
          "apply",
          [](solver& s, spinor& out, const spinor& in, bool dagger) {
            s.matrix().by().hands.inside("apply", [&] { s.matrix().apply(out, in, dagger); });
          },
          "out"_a, "in"_a, "dagger"_a, free_gil())
      .def(
          "apply_odd",
          [](solver& s, spinor& out, const spinor& in, bool dagger, double twist) {
            s.matrix().by().hands.inside("apply", [&] { s.matrix().apply_odd(out, in, dagger, twist); });
          },
          "out"_a, "in"_a, "dagger"_a, "twist"_a, free_gil())
      .def(
          "derivative",
          [](solver& s, gauge& out, const gauge& u, const spinor& X, const spinor& Y) {
            s.matrix().by().hands.inside("derivative", [&] { s.matrix().derivative(out, u, X, Y); });
          },
          "out"_a, "links"_a, "X"_a, "Y"_a, free_gil())
      .def_prop_ro("log_det_even", [](solver& s) { return s.matrix().log_det_even(); })
      .def(
          "log_det_derivative", [](solver& s, gauge& out, const gauge& u) { s.matrix().log_det_derivative(out, u); },
          "out"_a, "links"_a, free_gil())
      .def(
          "solve_normal",
          [](solver& s, spinor& x, const spinor& phi, double twist, precision steps, double residual, int most_steps) {
            solver_options how;
            how.steps = steps, how.residual = residual, how.most_steps = most_steps;
            return s.solve_normal(x, phi, twist, how);
          },
          "x"_a, "phi"_a, "twist"_a, "steps"_a, "residual"_a, "most_steps"_a, free_gil())
      .def(
          "solve_shifted",
          [](solver& s, std::vector<spinor*> x, const spinor& phi, const std::vector<double>& shifts, double residual,
             int most_steps) {
            std::vector<spinor> fields(shifts.size(), phi);
            const auto done = s.solve_shifted(fields, phi, shifts, {.residual = residual, .most_steps = most_steps});
            for (std::size_t i = 0; i < fields.size(); ++i) *x[i] = fields[i];  // views of its memory stay valid
            return done;
          },
          "x"_a, "phi"_a, "shifts"_a, "residual"_a, "most_steps"_a, free_gil())
      .def(
          "solve",
          [](solver& s, spinor& psi, const spinor& eta, const std::string& method, precision steps, double residual,
             int most_steps) {
            solver_options how;
            using kind = solver_options::method_kind;
            how.method = method == "multigrid" ? kind::multigrid : method == "bicgstab" ? kind::bicgstab : kind::cg;
            how.steps = steps, how.residual = residual, how.most_steps = most_steps;
            return s.solve(psi, eta, how);
          },
          "psi"_a, "eta"_a, "method"_a, "steps"_a, "residual"_a, "most_steps"_a, free_gil());

  using pair = flavours<double>;
  nb::class_<pair>(m, "Flavours", "Spinors of two flavours.")
      .def(
          "__init__",
          [](pair* self, const std::shared_ptr<const layout>& where, bool odd) {
            const auto which = odd ? sites::odd : sites::all;
            new (self) pair{spinor(where, which), spinor(where, which)};
          },
          "layout"_a, "odd"_a = false)
      .def("copy", [](const pair& psi) { return pair(psi); })
      .def_prop_ro(
          "up", [](pair& psi) -> spinor& { return psi.up; }, nb::rv_policy::reference_internal)
      .def_prop_ro("down", [](pair& psi) -> spinor& { return psi.down; }, nb::rv_policy::reference_internal);
  using two = doublet<double>;
  nb::class_<two>(m, "Doublet", "Two flavours of twisted mass with different masses, with a copy of a gauge field.")
      .def(
          "__init__",
          [](two* self, owned_engine& e, const gauge& u, double kappa, double mu, double epsilon, const angles& theta) {
            new (self) two(e.by, u, {kappa, mu, epsilon, theta}, u.shared_layout());
          },
          "engine"_a, "links"_a, "kappa"_a, "mu"_a, "epsilon"_a, "theta"_a, nb::keep_alive<1, 2>(), free_gil())
      .def(
          "apply", [](two& s, pair& out, const pair& in, bool dagger) { s.apply(out, in, dagger); }, "out"_a, "in"_a,
          "dagger"_a, free_gil())
      .def(
          "apply_odd", [](two& s, pair& out, const pair& in, bool dagger) { s.apply_odd(out, in, dagger); }, "out"_a,
          "in"_a, "dagger"_a, free_gil())
      .def(
          "solve",
          [](two& s, pair& psi, const pair& eta, double residual, int most_steps) {
            return s.solve(psi, eta, {.residual = residual, .most_steps = most_steps});
          },
          "psi"_a, "eta"_a, "residual"_a, "most_steps"_a, free_gil())
      .def(
          "solve_shifted",
          [](two& s, std::vector<pair*> x, const pair& phi, const std::vector<double>& shifts, double residual,
             int most_steps) {
            std::vector<pair> fields(shifts.size(), phi);
            const auto done = s.solve_shifted(fields, phi, shifts, {.residual = residual, .most_steps = most_steps});
            for (std::size_t i = 0; i < fields.size(); ++i) *x[i] = fields[i];
            return done;
          },
          "x"_a, "phi"_a, "shifts"_a, "residual"_a, "most_steps"_a, free_gil())
      .def(
          "derivative", [](two& s, gauge& out, const pair& X, const pair& Y) { s.derivative(out, X, Y); }, "out"_a,
          "X"_a, "Y"_a, free_gil());
}
