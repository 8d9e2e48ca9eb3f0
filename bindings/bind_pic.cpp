#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "group.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/conductors.hpp"
#include "plaq/pic/plasma.hpp"
#include "plaq/pic/poisson.hpp"
#include "plaq/pic/record.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::pic;

namespace {

using free_gil = nb::call_guard<nb::gil_scoped_release>;
using array_in = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
template <class V>
using array_out = nb::ndarray<nb::numpy, V>;

std::span<const double> view(const array_in& a) { return {a.data(), a.size()}; }
std::vector<double> listed(const array_in& a) { return {a.data(), a.data() + a.size()}; }

/// A vector as an array; x fastest: its first index is the one that runs fastest.
template <class V>
array_out<V> given(std::vector<V> values, const std::vector<std::size_t>& shape, bool x_fastest = false) {
  auto* all = new std::vector<V>(std::move(values));
  nb::capsule owner(all, [](void* p) noexcept { delete static_cast<std::vector<V>*>(p); });
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::size_t at = x_fastest ? d : shape.size() - 1 - d;
    strides[at] = step;
    step *= std::int64_t(shape[at]);
  }
  return array_out<V>(all->data(), shape.size(), shape.data(), owner, strides.data());
}

/// [component, i, j, k] as it comes from Python, of so many cells, as [component][k][j][i].
std::vector<double> turned(const array_in& a, int dimensions, const point& cells) {
  const std::size_t nx = std::size_t(cells[0]), ny = std::size_t(cells[1]), nz = std::size_t(cells[2]);
  bool fits = a.ndim() == std::size_t(dimensions) + 1 && a.shape(0) == 3;
  for (int d = 0; fits && d < dimensions; ++d) fits = a.shape(std::size_t(d) + 1) == std::size_t(cells[d]);
  if (!fits) throw plaq::input_error("an array of a field has the components first, then the cells");
  std::vector<double> out(a.size());
  const double* from = a.data();
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t j = 0; j < ny; ++j)
        for (std::size_t k = 0; k < nz; ++k) out[((c * nz + k) * ny + j) * nx + i] = *from++;
  return out;
}

template <class V>
std::array<V, 3> three(const std::vector<V>& from, V rest, const char* what) {
  if (from.empty() || from.size() > 3) throw plaq::input_error(std::string(what) + " has from 1 to 3 entries");
  std::array<V, 3> out{rest, rest, rest};
  std::copy(from.begin(), from.end(), out.begin());
  return out;
}
template <class V>
std::vector<V> used(const std::array<V, 3>& of, int dimensions) {
  return {of.begin(), of.begin() + dimensions};
}
template <class Sides, class Named>
auto side_setter(Sides plan::*sides, std::size_t side, Named named) {
  return [=](plan& p, const std::vector<std::string>& names) {
    if (names.empty() || names.size() > 3) throw plaq::input_error("sides have an entry for each dimension");
    for (std::size_t d = 0; d < names.size(); ++d) (p.*sides)[d][side] = named(names[d]);
  };
}

auto potential_setter(std::size_t side) {
  return [side](plan& p, const std::vector<double>& of) {
    if (of.empty() || of.size() > 3) throw plaq::input_error("potentials have an entry for each dimension");
    for (std::size_t d = 0; d < of.size(); ++d) p.potentials[d][side] = of[d];
  };
}

nb::dict as_dict(const plaq::balanced& what) {
  nb::dict out;
  out["before"] = what.before, out["predicted"] = what.predicted, out["floor"] = what.floor;
  out["moved"] = what.moved, out["moved_bytes"] = what.moved_bytes;
  return out;
}

}  // namespace

void bind_pic(nb::module_& m) {
  nb::class_<species>(m, "Species")
      .def(
          "__init__",
          [](species* self, const std::string& name, double charge, double mass, const std::string& pusher,
             bool tracked) { new (self) species{name, charge, mass, pusher_named(pusher), tracked}; },
          "name"_a, "charge"_a, "mass"_a, "pusher"_a = "boris", "tracked"_a = false)
      .def_ro("name", &species::name)
      .def_ro("charge", &species::charge)
      .def_ro("mass", &species::mass);

  nb::class_<emitter>(m, "Emitter", "A plate that gives off particles; see plan.hpp.")
      .def(
          "__init__",
          [](emitter* self, int kind, const std::vector<double>& at, const std::vector<double>& normal,
             double half_width, const array_in& flux, double weight, double temperature, double drift, bool limited) {
            emitter e{.kind = kind,
                      .at = three(at, 0.0, "at"),
                      .normal = three(normal, 0.0, "normal"),
                      .half_width = half_width,
                      .space_charge_limited = limited,
                      .weight = weight,
                      .temperature = temperature,
                      .drift = drift};
            e.set_flux(listed(flux));
            new (self) emitter(std::move(e));
          },
          "species"_a, "at"_a, "normal"_a, "half_width"_a, "flux"_a, "weight"_a, "temperature"_a = 0.0, "drift"_a = 0.0,
          "space_charge_limited"_a = false);

  nb::class_<antenna>(m, "Antenna", "A laser's sheet of current; see plan.hpp.")
      .def(
          "__init__",
          [](antenna* self, int normal, double at, double omega, double phase, double field, double angle, double waist,
             double focus, const std::vector<double>& centre, const array_in& envelope) {
            new (self) antenna{
                normal, at, omega, phase, field, angle, waist, focus, three(centre, 0.0, "centre"), listed(envelope)};
          },
          "normal"_a, "at"_a, "omega"_a, "phase"_a, "field"_a, "angle"_a, "waist"_a, "focus"_a, "centre"_a,
          "envelope"_a);

  nb::class_<conductor>(m, "Conductor", "Nodes at one potential; see plan.hpp.")
      .def(
          "__init__",
          [](conductor* self, const nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>& nodes,
             double potential) { new (self) conductor{{nodes.data(), nodes.data() + nodes.size()}, potential}; },
          "nodes"_a, "potential"_a);

  nb::class_<encounter>(m, "Encounter", "Coulomb collisions of two species; see plan.hpp.")
      .def(
          "__init__",
          [](encounter* self, int first, int second, double logarithm, int every) {
            new (self) encounter{first, second, logarithm, every};
          },
          "first"_a, "second"_a, "logarithm"_a, "every"_a = 1);

  nb::class_<ionising>(m, "Ionising", "Particles that ionise a gas; see plan.hpp.")
      .def(
          "__init__",
          [](ionising* self, int by, int electrons, int ions, double loss, const std::vector<double>& energy,
             const std::vector<double>& cross_section, const array_in& density, double temperature) {
            new (self) ionising{by, electrons, ions, loss, energy, cross_section, listed(density), temperature};
          },
          "by"_a, "electrons"_a, "ions"_a, "loss"_a, "energy"_a, "cross_section"_a, "density"_a, "temperature"_a);

  nb::class_<plan>(m, "Plan", "What the input fixes; see plan.hpp.")
      .def(nb::init<>())
      .def_prop_rw(
          "cells", [](const plan& p) { return used(p.cells, p.dimensions); },
          [](plan& p, const std::vector<int>& cells) {
            p.cells = three(cells, 1, "cells");
            p.dimensions = int(cells.size());
          })
      .def_prop_rw(
          "lengths", [](const plan& p) { return used(p.lengths, p.dimensions); },
          [](plan& p, const std::vector<double>& l) { p.lengths = three(l, 1.0, "lengths"); })
      .def_prop_rw(
          "patches", [](const plan& p) { return used(p.patches, p.dimensions); },
          [](plan& p, const std::vector<int>& n) { p.patches = three(n, 1, "patches"); })
      .def_rw("dt", &plan::dt)
      .def_rw("order", &plan::order)
      .def_rw("seed", &plan::seed)
      .def_rw("layer", &plan::layer)
      .def_rw("wall_temperature", &plan::wall_temperature)
      .def_prop_rw("low", nullptr, side_setter(&plan::borders, 0, border_named))
      .def_prop_rw("high", nullptr, side_setter(&plan::borders, 1, border_named))
      .def_prop_rw("particles_low", nullptr, side_setter(&plan::walls, 0, wall_named))
      .def_prop_rw("particles_high", nullptr, side_setter(&plan::walls, 1, wall_named))
      .def_prop_rw(
          "species", [](const plan& p) { return p.kinds; },
          [](plan& p, const std::vector<species>& all) { p.kinds = all; })
      .def_prop_rw("emitters", nullptr, [](plan& p, const std::vector<emitter>& all) { p.emitters = all; })
      .def_rw("electrostatic", &plan::electrostatic)
      .def_prop_rw("potentials_low", nullptr, potential_setter(0))
      .def_prop_rw("potentials_high", nullptr, potential_setter(1))
      .def_prop_rw("stencil", nullptr, [](plan& p, const std::string& name) { p.curl = stencil_named(name); })
      .def_prop_rw("antennas", nullptr, [](plan& p, const std::vector<antenna>& all) { p.antennas = all; })
      .def_prop_rw("conductors", nullptr, [](plan& p, const std::vector<conductor>& all) { p.conductors = all; })
      .def_prop_ro(
          "surface", [](const plan& p) { return surface_of(p).size(); },
          "Nodes on the surface of conductors in the box")
      .def_ro_static("most_on_surface", &poisson::most_on_surface, "Such nodes that an electrostatic run may have")
      .def_prop_rw("encounters", nullptr, [](plan& p, const std::vector<encounter>& all) { p.encounters = all; })
      .def_rw("coupling", &plan::coupling)
      .def_rw("crowding", &plan::crowding)
      .def_prop_rw("ionisations", nullptr, [](plan& p, const std::vector<ionising>& all) { p.ionisations = all; })
      .def(
          "set_window", [](plan& p, double speed, double start) { p.window = {speed, start}; }, "speed"_a, "start"_a)
      .def_prop_ro("window_start", [](const plan& p) { return p.window.start; })
      .def("shifted", &plan::shifted, "step"_a, "Cells that the window has moved by when a step begins.")
      .def_prop_ro("guard", &plan::guard, "Guard cells around a patch")
      .def("nodes",
           [](const plan& p) {
             std::vector<int> out;
             for (int d = 0; d < p.dimensions; ++d) out.push_back(p.nodes(d));
             return out;
           })
      .def_prop_ro("courant", &plan::courant, "The largest stable time step of the field solver.")
      .def("check", &plan::check);

  nb::class_<plasma>(m, "Plasma", "A plasma on all ranks; see plasma.hpp.")
      .def_static(
          "make",
          [](const plan& p, const group& over, const std::string& backend, const plaq::task::options& pool,
             const std::string& precision, const std::vector<double>& estimate, const std::string& folder) {
            if (precision != "double" && precision != "single")
              throw plaq::input_error("precision = \"" + precision + "\" is not double or single");
            return make_plasma(p, over.ranks, {backend, pool, precision == "single", estimate, folder});
          },
          "plan"_a, "comm"_a, "backend"_a, "pool"_a, "precision"_a = "double", "estimate"_a = std::vector<double>(),
          "folder"_a = "", nb::keep_alive<0, 2>(), free_gil())
      .def_prop_ro("step", &plasma::step)
      .def_prop_ro("time", [](const plasma& s) { return double(s.step()) * s.what().dt; })
      .def_prop_ro("columns", [](const plasma& s) { return record::names(s.what()); })
      .def("start", &plasma::start, free_gil())
      .def(
          "advance",
          [](plasma& s, int n, bool gauss) {
            std::vector<double> rows;
            {
              nb::gil_scoped_release others;
              rows = s.advance(n, gauss);
            }
            return given(std::move(rows), {std::size_t(n), record::length(s.what())});
          },
          "n"_a, "gauss"_a = false, "[n, columns]")
      .def(
          "balance",
          [](plasma& s, const std::string& by, bool only_if_it_pays, double most_bytes) {
            plaq::balanced what;
            {
              nb::gil_scoped_release others;
              what = s.balance({.by = by, .most_bytes = most_bytes, .only_if_it_pays = only_if_it_pays});
            }
            return as_dict(what);
          },
          "by"_a = "hilbert_refine", "only_if_it_pays"_a = false, "most_bytes"_a = 0.0)
      .def(
          "record_loads", [](plasma& s, const std::string& file) { s.record_loads(file); }, "file"_a, free_gil())
      .def(
          "save", [](plasma& s, const std::string& folder) { s.save(folder); }, "folder"_a, free_gil())
      .def("homes", &plasma::homes, free_gil())
      .def("charge", &plasma::charge, free_gil())
      .def("solve_poisson", &plasma::solve_poisson, free_gil())
      .def("shift", &plasma::shift, free_gil())
      .def("local", &plasma::local)
      .def(
          "origin", [](const plasma& s, int patch) { return used(s.mesh(patch).first, s.what().dimensions); },
          "patch"_a)
      .def(
          "extent", [](const plasma& s, int patch) { return used(s.mesh(patch).cells, s.what().dimensions); },
          "patch"_a)
      .def(
          "place",
          [](const plasma& s, int patch, int kind, int per_cell, bool even, int like, int from_x) {
            auto x = places(s.what(), s.mesh_now(patch), std::uint32_t(like < 0 ? kind : like), per_cell, even, from_x);
            const auto dimensions = std::size_t(s.what().dimensions);
            const std::size_t n = x.size() / dimensions;
            return given(std::move(x), {n, dimensions});
          },
          "patch"_a, "species"_a, "per_cell"_a, "even"_a = false, "like"_a = -1, "from_x"_a = 0, "[n, dimensions]")
      .def(
          "load",
          [](plasma& s, int patch, std::size_t kind, const array_in& x, const array_in& w, const array_in& drift,
             const array_in& thermal,
             bool juttner) { s.load(patch, kind, {view(x), view(w), view(drift), view(thermal), juttner}); },
          "patch"_a, "species"_a, "x"_a, "w"_a, "drift"_a, "thermal"_a, "juttner"_a = false)
      .def(
          "set_fields",
          [](plasma& s, int patch, const array_in& e, const array_in& b) {
            const block m = s.mesh(patch);
            s.set_fields(patch, turned(e, m.dimensions, m.cells), turned(b, m.dimensions, m.cells));
          },
          "patch"_a, "e"_a, "b"_a)
      .def(
          "set_ahead",
          [](plasma& s, int patch, const array_in& e, const array_in& b) {
            const block m = s.mesh(patch);
            const point plane{1, m.cells[1], m.cells[2]};
            s.set_ahead(patch, turned(e, m.dimensions, plane), turned(b, m.dimensions, plane));
          },
          "patch"_a, "e"_a, "b"_a)
      .def(
          "set_outside",
          [](plasma& s, int patch, const array_in& e) {
            const block m = s.mesh(patch);
            s.set_outside(patch, turned(e, m.dimensions, {m.extent(0), m.extent(1), m.extent(2)}));
          },
          "patch"_a, "e"_a)
      .def(
          "array",
          [](plasma& s, int patch, const std::string& name) {
            std::vector<std::size_t> shape;
            for (const int n : used(s.mesh(patch).cells, s.what().dimensions)) shape.push_back(std::size_t(n));
            return given(s.field(patch, name), shape, true);
          },
          "patch"_a, "name"_a)
      .def(
          "particles",
          [](plasma& s, int patch, std::size_t kind) {
            auto found = s.particles(patch, kind);
            const std::size_t n = found.w.size();
            nb::dict out;
            out["x"] = given(std::move(found.x), {n, std::size_t(s.what().dimensions)});
            out["u"] = given(std::move(found.u), {n, 3});
            out["w"] = given(std::move(found.w), {n});
            if (s.what().kinds[kind].tracked) out["id"] = given(std::move(found.id), {n});
            return out;
          },
          "patch"_a, "species"_a);
  m.attr("fields") = field_names();
}
