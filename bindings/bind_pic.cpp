#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "group.hpp"
#include "pic_arrays.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/fields/conductors.hpp"
#include "plaq/pic/mesh/record.hpp"
#include "plaq/pic/plasma.hpp"
#include "plaq/pic/poisson/poisson.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::pic;
using namespace plaq::bindings;

void bind_pic_external(nb::module_& m);

namespace {

using free_gil = nb::call_guard<nb::gil_scoped_release>;
/// Returns an array [component, i, j, k] of Python as [component][k][j][i].
std::vector<double> to_x_fastest(const array_in& a, int dimensions, const point& cells) {
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
std::vector<V> used_part(const std::array<V, 3>& of, int dimensions) {
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

nb::dict as_dict(const plaq::balance_result& outcome) {
  nb::dict out;
  out["before"] = outcome.before, out["predicted"] = outcome.predicted, out["floor"] = outcome.floor;
  out["moved"] = outcome.moved, out["moved_bytes"] = outcome.moved_bytes;
  return out;
}

/// Binds what a plan is made of.
void bind_parts(nb::module_& m) {
  nb::class_<species>(m, "Species")
      .def(
          "__init__",
          [](species* self, const std::string& name, double charge, double mass, const std::string& pusher,
             bool tracked, bool moves,
             bool test) { new (self) species{name, charge, mass, parse_pusher(pusher), tracked, moves, test}; },
          "name"_a, "charge"_a, "mass"_a, "pusher"_a = "boris", "tracked"_a = false, "moves"_a = true, "test"_a = false)
      .def_ro("name", &species::name)
      .def_ro("charge", &species::charge)
      .def_ro("mass", &species::mass);

  nb::class_<emitter>(m, "Emitter", "Plate that emits particles; see plan.hpp.")
      .def(
          "__init__",
          [](emitter* self, int species_index, const std::vector<double>& centre, const std::vector<double>& normal,
             double half_width, const array_in& flux, double weight, double temperature, double drift, bool limited) {
            emitter e{.species_index = species_index,
                      .centre = three(centre, 0.0, "centre"),
                      .normal = three(normal, 0.0, "normal"),
                      .half_width = half_width,
                      .space_charge_limited = limited,
                      .weight = weight,
                      .temperature = temperature,
                      .drift = drift};
            e.set_flux(to_vector(flux));
            new (self) emitter(std::move(e));
          },
          "species"_a, "centre"_a, "normal"_a, "half_width"_a, "flux"_a, "weight"_a, "temperature"_a = 0.0,
          "drift"_a = 0.0, "space_charge_limited"_a = false);

  nb::class_<antenna>(m, "Antenna", "Sheet of current of a laser; see plan.hpp.")
      .def(
          "__init__",
          [](antenna* self, int normal, double position, double omega, double phase, double field, double angle,
             double waist, double focus, const std::vector<double>& centre, const array_in& envelope) {
            new (self) antenna{normal,
                               position,
                               omega,
                               phase,
                               field,
                               angle,
                               waist,
                               focus,
                               three(centre, 0.0, "centre"),
                               to_vector(envelope)};
          },
          "normal"_a, "position"_a, "omega"_a, "phase"_a, "field"_a, "angle"_a, "waist"_a, "focus"_a, "centre"_a,
          "envelope"_a);

  nb::class_<conductor>(m, "Conductor", "Nodes at one potential; see plan.hpp.")
      .def(
          "__init__",
          [](conductor* self, const nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>& nodes,
             double potential) { new (self) conductor{{nodes.data(), nodes.data() + nodes.size()}, potential}; },
          "nodes"_a, "potential"_a);

  nb::class_<collision_pair>(m, "CollisionPair", "Coulomb collisions of two species; see plan.hpp.")
      .def(
          "__init__",
          [](collision_pair* self, int first, int second, double logarithm, int every) {
            new (self) collision_pair{first, second, logarithm, every};
          },
          "first"_a, "second"_a, "logarithm"_a, "every"_a = 1);
}

/// Binds gases, and what particles do at them and at sides.
void bind_gases(nb::module_& m) {
  nb::class_<gas_process>(m, "GasProcess", "Process of a particle with an atom of a gas; see gas_plan.hpp.")
      .def(
          "__init__",
          [](gas_process* self, const std::string& kind, const std::string& label, double loss, const array_in& energy,
             const array_in& cross_section) {
            new (self) gas_process{parse_gas_process(kind), label, loss, to_vector(energy), to_vector(cross_section)};
          },
          "kind"_a, "label"_a, "loss"_a, "energy"_a, "cross_section"_a);

  nb::class_<secondary_emission>(m, "SecondaryEmission", "Emission by impacts on sides; see plan.hpp.")
      .def(
          "__init__",
          [](secondary_emission* self, int projectiles, int emitted, const std::vector<std::vector<bool>>& at,
             double temperature, const array_in& energy, const array_in& number) {
            secondary_emission e{.projectiles = projectiles,
                                 .emitted = emitted,
                                 .temperature = temperature,
                                 .energy = to_vector(energy),
                                 .number = to_vector(number),
                                 .cosines = number.ndim() == 2 ? number.shape(1) : 0};
            for (std::size_t d = 0; d < at.size() && d < 3; ++d)
              for (std::size_t side = 0; side < 2; ++side) e.at[d][side] = at[d].at(side);
            new (self) secondary_emission(std::move(e));
          },
          "projectiles"_a, "emitted"_a, "at"_a, "temperature"_a, "energy"_a, "number"_a);

  nb::class_<gas_scattering>(m, "GasScattering", "Particles of a species in a gas; see gas_plan.hpp.")
      .def(
          "__init__",
          [](gas_scattering* self, const std::string& name, int projectiles, int electrons, int ions, int negative_ions,
             double atom_mass, const array_in& density, const array_in& temperature, const std::vector<array_in>& drift,
             bool centre_energies, const std::string& sharing, double opal_energy, const std::string& law,
             const std::vector<gas_process>& processes) {
            if (drift.size() != 3) throw plaq::input_error("the drift of a gas has three components");
            new (self) gas_scattering{.name = name,
                                      .projectiles = projectiles,
                                      .electrons = electrons,
                                      .ions = ions,
                                      .negative_ions = negative_ions,
                                      .atom_mass = atom_mass,
                                      .density = to_vector(density),
                                      .temperature = to_vector(temperature),
                                      .drift = {to_vector(drift[0]), to_vector(drift[1]), to_vector(drift[2])},
                                      .centre_energies = centre_energies,
                                      .sharing = parse_energy_sharing(sharing),
                                      .opal_energy = opal_energy,
                                      .law = parse_scattering_law(law),
                                      .processes = processes};
          },
          "name"_a, "projectiles"_a, "electrons"_a, "ions"_a, "negative_ions"_a, "atom_mass"_a, "density"_a,
          "temperature"_a, "drift"_a, "centre_energies"_a, "sharing"_a, "opal_energy"_a, "law"_a, "processes"_a);
}

void bind_plan(nb::module_& m) {
  nb::class_<plan>(m, "Plan", "Plan of a run; see plan.hpp.")
      .def(nb::init<>())
      .def_prop_rw(
          "cells", [](const plan& p) { return used_part(p.cells, p.dimensions); },
          [](plan& p, const std::vector<int>& cells) {
            p.cells = three(cells, 1, "cells");
            p.dimensions = int(cells.size());
          })
      .def_prop_rw(
          "lengths", [](const plan& p) { return used_part(p.lengths, p.dimensions); },
          [](plan& p, const std::vector<double>& l) { p.lengths = three(l, 1.0, "lengths"); })
      .def_prop_rw(
          "patches", [](const plan& p) { return used_part(p.patches, p.dimensions); },
          [](plan& p, const std::vector<int>& n) { p.patches = three(n, 1, "patches"); })
      .def_rw("dt", &plan::dt)
      .def_rw("order", &plan::order)
      .def_rw("seed", &plan::seed)
      .def_rw("layer", &plan::layer)
      .def_rw("wall_temperature", &plan::wall_temperature)
      .def_prop_rw("low", nullptr, side_setter(&plan::field_boundaries, 0, parse_field_boundary))
      .def_prop_rw("high", nullptr, side_setter(&plan::field_boundaries, 1, parse_field_boundary))
      .def_prop_rw("particles_low", nullptr, side_setter(&plan::particle_boundaries, 0, parse_particle_boundary))
      .def_prop_rw("particles_high", nullptr, side_setter(&plan::particle_boundaries, 1, parse_particle_boundary))
      .def_prop_rw(
          "species", [](const plan& p) { return p.species_list; },
          [](plan& p, const std::vector<species>& all) { p.species_list = all; })
      .def_prop_rw("emitters", nullptr, [](plan& p, const std::vector<emitter>& all) { p.emitters = all; })
      .def_rw("electrostatic", &plan::electrostatic)
      .def_rw("filter_passes", &plan::filter_passes)
      .def_rw("filter_compensation", &plan::filter_compensation)
      .def_rw("at_nodes", &plan::at_nodes)
      .def_rw("external", &plan::external)
      .def_prop_rw("potentials_low", nullptr, potential_setter(0))
      .def_prop_rw("potentials_high", nullptr, potential_setter(1))
      .def_prop_rw("stencil", nullptr, [](plan& p, const std::string& name) { p.curl = parse_stencil(name); })
      .def_prop_rw("antennas", nullptr, [](plan& p, const std::vector<antenna>& all) { p.antennas = all; })
      .def_prop_rw("conductors", nullptr, [](plan& p, const std::vector<conductor>& all) { p.conductors = all; })
      .def_prop_ro(
          "surface_nodes", [](const plan& p) { return conductor_surface(p).size(); },
          "Number of nodes on the surface of conductors in the box.")
      .def_ro_static("max_surface_nodes", &poisson::max_surface_nodes,
                     "Largest number of such nodes in an electrostatic run.")
      .def_prop_rw("collision_pairs", nullptr,
                   [](plan& p, const std::vector<collision_pair>& all) { p.collision_pairs = all; })
      .def_rw("coupling", &plan::coupling)
      .def_rw("density_scale", &plan::density_scale)
      .def_prop_rw("secondaries", nullptr,
                   [](plan& p, const std::vector<secondary_emission>& all) { p.secondaries = all; })
      .def_prop_rw("field_ionisations", nullptr,
                   [](plan& p, const std::vector<field_ionisation>& all) { p.field_ionisations = all; })
      .def_prop_rw("scatterings", nullptr, [](plan& p, const std::vector<gas_scattering>& all) { p.scatterings = all; })
      .def(
          "set_window", [](plan& p, double speed, double start) { p.window = {speed, start}; }, "speed"_a, "start"_a)
      .def_prop_ro("window_start", [](const plan& p) { return p.window.start; })
      .def("window_shift", &plan::window_shift, "step"_a, "Cells that the window has moved by when a step begins.")
      .def_prop_ro("guard", &plan::guard, "Number of guard cells around a patch.")
      .def("nodes",
           [](const plan& p) {
             std::vector<int> out;
             for (int d = 0; d < p.dimensions; ++d) out.push_back(p.nodes(d));
             return out;
           })
      .def_prop_ro("courant", &plan::courant, "Largest stable time step of the field solver.")
      .def("check", &plan::check);
}

/// Binds the functions that reach single patches of a plasma.
void bind_patches(nb::class_<plasma>& bound) {
  bound.def("homes", &plasma::homes, free_gil())
      .def("compute_charge", &plasma::compute_charge, free_gil())
      .def("solve_poisson", &plasma::solve_poisson, free_gil())
      .def(
          "add_moving_field",
          [](plasma& s, std::size_t species_index, int dimension, double beta) {
            s.add_moving_field(species_index, {dimension, beta});
          },
          "species"_a, "dimension"_a, "beta"_a, free_gil())
      .def("shift_window", &plasma::shift_window, free_gil())
      .def("local_patches", &plasma::local_patches)
      .def(
          "origin",
          [](const plasma& s, int patch) { return used_part(s.mesh(patch).first, s.parameters().dimensions); },
          "patch"_a)
      .def(
          "extent",
          [](const plasma& s, int patch) { return used_part(s.mesh(patch).cells, s.parameters().dimensions); },
          "patch"_a)
      .def(
          "make_positions",
          [](const plasma& s, int patch, int species_index, int per_cell, bool even, int like, int from_x) {
            auto x = make_positions(s.parameters(), s.shifted_mesh(patch),
                                    std::uint32_t(like < 0 ? species_index : like), per_cell, even, from_x);
            const auto dimensions = std::size_t(s.parameters().dimensions);
            const std::size_t n = x.size() / dimensions;
            return to_array(std::move(x), {n, dimensions});
          },
          "patch"_a, "species"_a, "per_cell"_a, "even"_a = false, "like"_a = -1, "from_x"_a = 0, "[n, dimensions]")
      .def(
          "draw_uniform",
          [](const plasma& s, int patch, std::size_t species_index, const array_in& x,
             const nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>& which, std::uint64_t round) {
            const auto numbers = numbers_by_cell(s.parameters(), s.shifted_mesh(patch), view(x));
            std::vector<double> out;
            for (std::size_t i = 0; i < which.size(); ++i) {
              const auto words =
                  draw_uniform(s.parameters(), species_index, numbers.at(std::size_t(which.data()[i])), round);
              out.insert(out.end(), words.begin(), words.end());
            }
            return to_array(std::move(out), {which.size(), 4});
          },
          "patch"_a, "species"_a, "x"_a, "which"_a, "round"_a,
          "Numbers in [0, 1) for a round of draws of momenta of some particles: [which, 4].")
      .def(
          "load",
          [](plasma& s, int patch, std::size_t species_index, const array_in& x, const array_in& w,
             const array_in& drift, const array_in& thermal,
             bool juttner) { s.load(patch, species_index, {view(x), view(w), view(drift), view(thermal), juttner}); },
          "patch"_a, "species"_a, "x"_a, "w"_a, "drift"_a, "thermal"_a, "juttner"_a = false)
      .def(
          "set_fields",
          [](plasma& s, int patch, const array_in& e, const array_in& b) {
            const patch_grid m = s.mesh(patch);
            s.set_fields(patch, to_x_fastest(e, m.dimensions, m.cells), to_x_fastest(b, m.dimensions, m.cells));
          },
          "patch"_a, "e"_a, "b"_a)
      .def(
          "set_incoming_fields",
          [](plasma& s, int patch, const array_in& e, const array_in& b) {
            const patch_grid m = s.mesh(patch);
            const point plane{1, m.cells[1], m.cells[2]};
            s.set_incoming_fields(patch, to_x_fastest(e, m.dimensions, plane), to_x_fastest(b, m.dimensions, plane));
          },
          "patch"_a, "e"_a, "b"_a)
      .def(
          "array",
          [](plasma& s, int patch, const std::string& name) {
            std::vector<std::size_t> shape;
            for (const int n : used_part(s.mesh(patch).cells, s.parameters().dimensions))
              shape.push_back(std::size_t(n));
            return to_array(s.field(patch, name), shape, true);
          },
          "patch"_a, "name"_a)
      .def(
          "particles",
          [](plasma& s, int patch, std::size_t species_index) {
            auto view = s.particles(patch, species_index);
            const std::size_t n = view.w.size();
            nb::dict out;
            out["x"] = to_array(std::move(view.x), {n, std::size_t(s.parameters().dimensions)});
            out["u"] = to_array(std::move(view.u), {n, 3});
            out["w"] = to_array(std::move(view.w), {n});
            if (s.parameters().species_list[species_index].tracked) out["id"] = to_array(std::move(view.id), {n});
            return out;
          },
          "patch"_a, "species"_a);
}

void bind_plasma(nb::module_& m) {
  auto bound = nb::class_<plasma>(m, "Plasma", "Plasma on all ranks; see plasma.hpp.");
  bound
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
      .def_prop_ro("time", [](const plasma& s) { return double(s.step()) * s.parameters().dt; })
      .def_prop_ro("columns", [](const plasma& s) { return record::names(s.parameters()); })
      .def("start", &plasma::start, free_gil())
      .def(
          "advance",
          [](plasma& s, int n, bool gauss, const std::optional<array_in>& potentials) {
            std::vector<double> rows;
            {
              nb::gil_scoped_release others;
              rows = s.advance(n, gauss, potentials ? view(*potentials) : std::span<const double>());
            }
            return to_array(std::move(rows), {std::size_t(n), record::length(s.parameters())});
          },
          "n"_a, "gauss"_a = false, "potentials"_a = nb::none(), "[n, columns]")
      .def(
          "balance",
          [](plasma& s, const std::string& by, bool only_if_it_pays, double most_bytes) {
            plaq::balance_result outcome;
            {
              nb::gil_scoped_release others;
              outcome = s.balance({.by = by, .most_bytes = most_bytes, .only_if_it_pays = only_if_it_pays});
            }
            return as_dict(outcome);
          },
          "by"_a = "hilbert_refine", "only_if_it_pays"_a = false, "most_bytes"_a = 0.0)
      .def(
          "record_loads", [](plasma& s, const std::string& file) { s.record_loads(file); }, "file"_a, free_gil())
      .def("save", [](plasma& s, const std::string& folder) { s.save(folder); }, "folder"_a, free_gil());
  bind_patches(bound);
}

}  // namespace

void bind_pic(nb::module_& m) {
  bind_parts(m);
  bind_gases(m);
  bind_pic_external(m);
  bind_plan(m);
  bind_plasma(m);
  m.attr("fields") = field_names();
}
