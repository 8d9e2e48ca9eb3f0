#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pic_arrays.hpp"
#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/plan.hpp"
#include "plaq/pic/mesh/plates.hpp"
#include "plaq/pic/poisson/fourier.hpp"
#include "plaq/pic/poisson/surface.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace plaq::pic;
using namespace plaq::bindings;

void bind_pic_external(nb::module_& m);

namespace {

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

/// Binds antennas.
void bind_antennas(nb::module_& m) {
  nb::class_<antenna>(m, "Antenna", "Sheet of current of a laser; see plan.hpp.")
      .def(
          "__init__",
          [](antenna* self, int normal, double position, double omega, double phase, double field, double angle,
             double waist, double focus, const std::vector<double>& centre, const array_in& envelope,
             const std::vector<double>& direction, std::int64_t envelope_before) {
            new (self) antenna{normal,
                               position,
                               omega,
                               phase,
                               field,
                               angle,
                               waist,
                               focus,
                               three(centre, 0.0, "centre"),
                               to_vector(envelope),
                               three(direction, 0.0, "direction"),
                               envelope_before};
          },
          "normal"_a, "position"_a, "omega"_a, "phase"_a, "field"_a, "angle"_a, "waist"_a, "focus"_a, "centre"_a,
          "envelope"_a, "direction"_a, "envelope_before"_a)
      .def(
          "set_pulse",
          [](antenna& self, const std::vector<double>& first, const std::vector<double>& spacing,
             const std::vector<int>& points, const array_in& real, const array_in& imaginary, bool round) {
            self.round = round;
            for (std::size_t part = 0; part < 2; ++part)
              self.pulse[part] = {three(first, 0.0, "first"), three(spacing, 1.0, "spacing"),
                                  three(points, 1, "points"), to_vector(part ? imaginary : real)};
          },
          "first"_a, "spacing"_a, "points"_a, "real"_a, "imaginary"_a, "round"_a,
          "Sets P of the coordinates a, b, t, the first one fastest.");
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
          "drift"_a = 0.0, "space_charge_limited"_a = false)
      .def(
          "set_law",
          [](emitter& self, const std::string& law, double work, double enhancement, double factor, double exponent) {
            self.law = parse_emission_law(law), self.work = work, self.enhancement = enhancement;
            self.factor = factor, self.exponent = exponent;
          },
          "law"_a, "work"_a, "enhancement"_a, "factor"_a, "exponent"_a)
      .def_prop_rw(
          "profile", [](const emitter& e) { return e.profile; },
          [](emitter& e, const array_in& values) { e.profile = to_vector(values); })
      .def(
          "points",
          [](const emitter& e, int dimensions, int n) {
            plan p;
            p.dimensions = dimensions;
            std::vector<double> out;
            for (int j = 0; j < (dimensions > 2 ? n : 1); ++j)
              for (int i = 0; i < n; ++i) {
                const auto x = point_on_plate(p, e, {}, double(i) / (n - 1), double(j) / (n - 1));
                out.insert(out.end(), x.begin(), x.end());
              }
            const std::size_t count = out.size() / 3;
            return to_array(std::move(out), {count, 3});
          },
          "dimensions"_a, "n"_a, "Points of a line or square as the profile has them, n a side: [n..., 3].");

  nb::class_<conductor>(m, "Conductor", "Nodes at one potential; see plan.hpp.")
      .def(
          "__init__",
          [](conductor* self, const nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>& nodes,
             double potential, const std::vector<std::tuple<std::int64_t, int, double>>& cuts) {
            new (self) conductor{{nodes.data(), nodes.data() + nodes.size()}, potential};
            for (const auto& [node, direction, part] : cuts) self->cuts.push_back({node, direction, part});
          },
          "nodes"_a, "potential"_a, "cuts"_a)
      .def_ro_static("least_part", &conductor::least_part, "Least part of an edge outside, see cut_edge in plan.hpp.");

  nb::class_<circuit>(m, "Circuit", "Circuit of an electrode; see plan.hpp.")
      .def(
          "__init__",
          [](circuit* self, const std::string& name, int electrode, bool floating, double resistance, double inductance,
             double capacitance) {
            new (self) circuit{name, electrode, floating, resistance, inductance, capacitance};
          },
          "name"_a, "electrode"_a, "floating"_a, "resistance"_a, "inductance"_a, "capacitance"_a);
}

/// Binds gases, and what particles do at them, at sides and at each other.
void bind_gases(nb::module_& m) {
  nb::class_<collision_pair>(m, "CollisionPair", "Coulomb collisions of two species; see plan.hpp.")
      .def(
          "__init__",
          [](collision_pair* self, int first, int second, double logarithm, int every) {
            new (self) collision_pair{first, second, logarithm, every};
          },
          "first"_a, "second"_a, "logarithm"_a, "every"_a = 1);

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

  nb::class_<reaction>(m, "Reaction", "Reaction of two particles; see plan.hpp.")
      .def(
          "__init__",
          [](reaction* self, const std::string& name, int first, int second, const std::vector<int>& products,
             double released, const array_in& energy, const array_in& rate) {
            new (self) reaction{name, first, second, products, released, to_vector(energy), to_vector(rate)};
          },
          "name"_a, "first"_a, "second"_a, "products"_a, "released"_a, "energy"_a, "rate"_a);

  nb::class_<resampling>(m, "Resampling", "Merging or splitting of a species; see plan.hpp.")
      .def(
          "__init__",
          [](resampling* self, const std::string& name, int of, bool splits, int count, int every,
             double least_weight) { new (self) resampling{name, of, splits, count, every, least_weight}; },
          "name"_a, "species"_a, "splits"_a, "count"_a, "every"_a, "least_weight"_a);

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
      .def_rw("cylinder", &plan::cylinder)
      .def_rw("modes", &plan::modes)
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
      .def_prop_rw("permittivity", nullptr, [](plan& p, const array_in& values) { p.permittivity = to_vector(values); })
      .def_prop_rw("circuits", nullptr, [](plan& p, const std::vector<circuit>& all) { p.circuits = all; })
      .def_prop_ro(
          "surface_nodes", [](const plan& p) { return surface_nodes(p).unknowns.size(); },
          "Number of nodes on the surface of conductors and dielectrics in the box.")
      .def_ro_static("max_surface_nodes", &max_surface_nodes, "Largest number of such nodes in an electrostatic run.")
      .def_prop_rw("collision_pairs", nullptr,
                   [](plan& p, const std::vector<collision_pair>& all) { p.collision_pairs = all; })
      .def_rw("coupling", &plan::coupling)
      .def_rw("density_scale", &plan::density_scale)
      .def_prop_rw("reactions", nullptr, [](plan& p, const std::vector<reaction>& all) { p.reactions = all; })
      .def_prop_rw("resamplings", nullptr, [](plan& p, const std::vector<resampling>& all) { p.resamplings = all; })
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
      .def_static("radial_factor", &plan::radial_factor, "modes"_a, "Factor of 1/dr^2 in that of a cylinder.")
      .def("check", &plan::check);
}

}  // namespace

void bind_pic_plan(nb::module_& m) {
  bind_parts(m);
  bind_antennas(m);
  bind_gases(m);
  bind_pic_external(m);
  bind_plan(m);
}
