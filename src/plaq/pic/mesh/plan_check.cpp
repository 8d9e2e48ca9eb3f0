// Checks of a plan.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/plan.hpp"
#include "plaq/pic/mesh/plates.hpp"

namespace plaq::pic {

namespace {

constexpr std::array<std::string_view, 2> side_names{"low", "high"};

template <class... Part>
[[noreturn]] void refuse_plan(const Part&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw input_error(text.str());
}

void check_sides(const plan& p, int d) {
  const auto& f = p.field_boundaries[d];
  const auto& w = p.particle_boundaries[d];
  if ((f[0] == field_boundary::periodic) != (f[1] == field_boundary::periodic))
    refuse_plan("sides of ", p.axis_name(d), ": fields are periodic at both sides or at none");
  for (int s = 0; s < 2; ++s) {
    const bool axis = p.cylinder && d == 1 && s == 0;
    if ((f[s] == field_boundary::axis) != axis || (w[s] == particle_boundary::axis) != axis)
      refuse_plan("the ", side_names[s], " side of ", p.axis_name(d), ": an axis is the low side of r in a cylinder");
    if ((w[s] == particle_boundary::periodic) != (f[s] == field_boundary::periodic))
      refuse_plan("the ", side_names[s], " side of ", p.axis_name(d), ": particles and fields are periodic together");
    if (w[s] == particle_boundary::thermal && !(p.wall_temperature > 0))
      refuse_plan("wall_temperature = ", p.wall_temperature, ": a thermal wall needs one above 0");
    if (f[s] == field_boundary::absorbing && (p.layer < 2 || p.layer > p.cells[d] / 2))
      refuse_plan("layer = ", p.layer, ": an absorbing layer has from 2 to ", p.cells[d] / 2, " of the ", p.cells[d],
                  " cells in ", p.axis_name(d));
  }
}

void check_emitter(const plan& p, std::size_t number) {
  const emitter& e = p.emitters[number];
  const auto refuse = [&](const auto&... parts) { refuse_plan("emitter ", number + 1, ": ", parts...); };
  if (e.species_index < 0 || e.species_index >= int(p.species_list.size()))
    refuse("species ", e.species_index, " of ", p.species_list.size());
  if (!(e.weight > 0) || !std::isfinite(e.weight)) refuse("weight = ", e.weight, ": above 0");
  if (!(e.temperature >= 0)) refuse("temperature = ", e.temperature, ": at least 0");
  if (!(e.half_width >= 0)) refuse("half_width = ", e.half_width, ": at least 0");
  if (p.dimensions > 1 && e.half_width == 0) refuse("half_width = 0: above 0 but in one dimension");
  double length = 0;
  for (int d = 0; d < p.dimensions; ++d) length += e.normal[d] * e.normal[d];
  if (!(std::abs(length - 1) < 1e-9)) refuse("the normal has the length ", std::sqrt(length), ", not 1");
  const frame f = frame_of(p, e);
  for (int d = 0; d < p.dimensions; ++d) {
    const double far =
        e.half_width * ((p.dimensions > 1) * std::abs(f.first[d]) + (p.dimensions > 2) * std::abs(f.second[d]));
    if (!(e.centre[d] - far >= -1e-9 * p.lengths[d] && e.centre[d] + far <= (1 + 1e-9) * p.lengths[d]))
      refuse("it reaches from ", e.centre[d] - far, " to ", e.centre[d] + far, " in ", p.axis_name(d),
             ", and the box ends at ", p.lengths[d]);
  }
  for (const double factor : e.profile)
    if (!(factor >= 0) || !std::isfinite(factor)) refuse("a profile of ", factor, ": at least 0");
  if (!e.profile.empty() && (p.dimensions == 1 || e.profile.size() < (p.dimensions == 2 ? 2 : 4)))
    refuse("a profile is of a line or square, with two points a side or more");
  if (e.follows_field()) {
    if (side_of(p, e).side < 0)
      refuse("one that is limited by space charge lies on a conducting side of the box, its normal into the box");
    if (p.species_list[std::size_t(e.species_index)].charge == 0)
      refuse("particles without charge are not limited by space charge");
    if (e.law != emission_law::given &&
        (!p.electrostatic || !(e.work > 0) || !(e.enhancement > 0) || !(e.factor > 0) || !(p.coupling > 0)))
      refuse("a law of emission needs an electrostatic solver, a work function and the reference density");
    if (e.law == emission_law::richardson && !(e.temperature > 0)) refuse("emission by heat needs a temperature");
  } else if (e.cumulative_flux.empty()) {
    refuse("it needs a flux");
  }
}

void check_antenna(const plan& p, std::size_t number) {
  const antenna& a = p.antennas[number];
  const auto refuse = [&](const auto&... parts) { refuse_plan("antenna ", number + 1, ": ", parts...); };
  if (p.electrostatic) refuse("an electrostatic solver has no light waves");
  if (a.normal < 0 || a.normal >= p.dimensions)
    refuse("normal = ", a.normal, ": one of the ", p.dimensions, " dimensions");
  const double h = p.spacing(a.normal);
  if (!(a.position >= h && a.position <= p.lengths[a.normal] - h))
    refuse("at = ", a.position, ": within the box, a cell from its sides");
  if (!(a.omega > 0 && a.omega * p.dt < 2 * std::min(1.0, p.dt / h)))
    refuse("omega = ", a.omega, ": above 0, with more than two steps and cells to a wave");
  if (!(a.waist >= 0) || !std::isfinite(a.field) || !std::isfinite(a.focus) || !std::isfinite(a.phase) ||
      !std::isfinite(a.angle))
    refuse("field, focus, phase and angle are numbers, waist is at least 0");
  if (a.oblique()) {
    double length = 0;
    for (int d = 0; d < 3; ++d)
      length += d < p.dimensions ? a.direction[std::size_t(d)] * a.direction[std::size_t(d)] : 0;
    if (!(std::abs(length - 1) < 1e-9) || !(std::abs(a.direction[std::size_t(a.normal)]) > antenna::least_cosine))
      refuse("direction has length 1 and is at most 80 degrees from the normal");
    if (p.curl != stencil::yee) refuse("an oblique direction needs Yee's stencil");
  }
  if (a.envelope_before < 0) refuse("its envelope begins at the first step or before");
  for (const double f : a.envelope)
    if (!std::isfinite(f)) refuse("its envelope is not finite");
  for (const field_map& map : a.pulse)
    for (const double value : map.values)
      if (!std::isfinite(value)) refuse("its pulse is not finite");
  if (!a.pulse[0].empty() && (a.oblique() || !a.envelope.empty()))
    refuse("a pulse of a map moves along the normal and has no other envelope");
}

void check_conductor(const plan& p, std::size_t number) {
  const conductor& c = p.conductors[number];
  std::int64_t all = 1, last = -1;
  for (int d = 0; d < 3; ++d) all *= p.nodes(d);
  if (c.nodes.empty()) refuse_plan("conductor ", number + 1, ": it has no nodes of the mesh");
  for (const auto n : c.nodes) {
    if (n <= last || n >= all)
      refuse_plan("conductor ", number + 1, ": nodes are from 0 to ", all - 1, ", in rising order");
    last = n;
  }
  for (std::size_t n = 0; n < c.cuts.size(); ++n) {
    const cut_edge& e = c.cuts[n];
    if (!p.electrostatic || e.node < 0 || e.node >= all || e.direction < 0 || e.direction >= 2 * p.dimensions ||
        !(e.part >= conductor::least_part && e.part <= 1) || (n > 0 && !(c.cuts[n - 1].key() < e.key())))
      refuse_plan("conductor ", number + 1,
                  ": edges that it cuts are those of an electrostatic run, of nodes from 0 to ", all - 1,
                  ", in rising order, and ", conductor::least_part, " to 1 of each is outside");
  }
  if (!std::isfinite(c.potential) || (c.potential != 0 && !p.electrostatic))
    refuse_plan("conductor ", number + 1, ": potential = ", c.potential,
                ": a number, 0 unless the run is electrostatic");
  if (p.electrostatic && !p.bounded())
    refuse_plan("conductor ", number + 1, ": in an electrostatic run a side of the box has to conduct, too");
}

void check_collision_pair(const plan& p, const collision_pair& e) {
  for (const int s : {e.first, e.second})
    if (s < 0 || s >= int(p.species_list.size()))
      refuse_plan("collisions of species ", s, " of ", p.species_list.size());
  if (!(e.logarithm > 0) || !std::isfinite(e.logarithm))
    refuse_plan("the Coulomb logarithm = ", e.logarithm, ": above 0");
  if (!(p.coupling > 0) || !(p.density_scale > 0)) refuse_plan("collisions need the reference density");
  if (e.every < 1) refuse_plan("collisions every ", e.every, " steps: at least 1");
}

/// Checks a profile of a gas: one number, or one for each cell.
void check_gas_profile(const plan& p, const gas_scattering& g, const char* quantity, const std::vector<double>& values,
                       double least) {
  std::size_t all = 1;
  for (int d = 0; d < 3; ++d) all *= std::size_t(p.cells[d]);
  if (values.size() != 1 && values.size() != all)
    refuse_plan("scattering ", g.name, ": one ", quantity, " of the gas, or one for each of ", all, " cells");
  for (const double n : values)
    if (!(n >= least) || !std::isfinite(n))
      refuse_plan("scattering ", g.name, ": the ", quantity, " of the gas = ", n, ": at least ", least);
}

void check_gas_process(const plan& p, const gas_scattering& g, const gas_process& k) {
  const auto refuse = [&](const auto&... parts) { refuse_plan("scattering ", g.name, ", ", k.label, ": ", parts...); };
  if (k.energy.size() < 2 || k.energy.size() != k.cross_section.size())
    refuse("a table has two or more entries, as many energies as cross sections");
  for (std::size_t n = 0; n < k.energy.size(); ++n)
    if (!(k.energy[n] >= 0) || (n && !(k.energy[n] > k.energy[n - 1])) || !(k.cross_section[n] >= 0) ||
        !std::isfinite(k.energy[n]) || !std::isfinite(k.cross_section[n]))
      refuse("energies rise from 0 or more, cross sections are at least 0");
  if (!(k.loss >= 0)) refuse("a loss of ", k.loss, ": at least 0");
  for (std::size_t n = 0; n < k.energy.size() && k.energy[n] < k.loss * (1 - 1e-6); ++n)
    if (k.cross_section[n] > 0) refuse("a cross section above 0 at ", k.energy[n], ", below the loss of ", k.loss);
  const auto charge = [&](int s) { return s < 0 ? 0 : p.species_list[std::size_t(s)].charge; };
  if (k.kind == gas_process_kind::ionisation) {
    if (g.electrons < 0 || g.ions < 0 || charge(g.electrons) + charge(g.ions) != 0)
      refuse("it needs species of electrons and ions of opposite charge");
    if (p.species_list[std::size_t(g.electrons)].mass != p.species_list[std::size_t(g.projectiles)].mass)
      refuse("particles that ionise have the mass of the new electrons");
  }
  if (k.kind == gas_process_kind::attachment &&
      (g.negative_ions < 0 || charge(g.negative_ions) != charge(g.projectiles)))
    refuse("it needs a species of negative ions with the charge of the particles that attach");
}

void check_scattering(const plan& p, const gas_scattering& g) {
  if (g.projectiles < 0) refuse_plan("scattering ", g.name, " of no species");
  for (const int s : {g.projectiles, g.electrons, g.ions, g.negative_ions})
    if (s >= int(p.species_list.size()))
      refuse_plan("scattering ", g.name, " of species ", s, " of ", p.species_list.size());
  if (!(g.atom_mass > 0)) refuse_plan("scattering ", g.name, ": mass of an atom = ", g.atom_mass, ": above 0");
  if (g.sharing == energy_sharing::opal && !(g.opal_energy > 0))
    refuse_plan("scattering ", g.name, ": opal_energy = ", g.opal_energy, ": above 0");
  check_gas_profile(p, g, "density", g.density, 0);
  check_gas_profile(p, g, "temperature", g.temperature, 0);
  for (const auto& component : g.drift) check_gas_profile(p, g, "drift", component, -1e6);
  if (g.processes.empty()) refuse_plan("scattering ", g.name, ": it has no process");
  for (const gas_process& k : g.processes) check_gas_process(p, g, k);
}

void check_reaction(const plan& p, const reaction& r) {
  const auto refuse = [&](const auto&... parts) { refuse_plan("reaction ", r.name, ": ", parts...); };
  if (!p.electrostatic) refuse("it needs an electrostatic solver");
  if (r.products.size() > 2) refuse(r.products.size(), " products: at most 2");
  std::vector<int> all{r.first, r.second};
  all.insert(all.end(), r.products.begin(), r.products.end());
  double charge = 0;
  for (std::size_t n = 0; n < all.size(); ++n) {
    if (all[n] < 0 || all[n] >= int(p.species_list.size())) refuse("species ", all[n], " of ", p.species_list.size());
    charge += (n < 2 ? 1 : -1) * p.species_list[std::size_t(all[n])].charge;
  }
  if (r.first == r.second) refuse("two different species");
  if (std::abs(charge) > 1e-12) refuse("the products have not the charge of the particles that react");
  if (r.energy.size() < 2 || r.energy.size() != r.rate.size() || !std::isfinite(r.released))
    refuse("a table of two or more energies");
  for (std::size_t n = 0; n < r.energy.size(); ++n)
    if (!(r.energy[n] >= 0) || (n && !(r.energy[n] > r.energy[n - 1])) || !(r.rate[n] >= 0) ||
        !std::isfinite(r.rate[n]))
      refuse("energies rise, rates are at least 0");
}

void check_resampling(const plan& p, const resampling& r) {
  const auto refuse = [&](const auto&... parts) { refuse_plan("resampling ", r.name, ": ", parts...); };
  if (r.species < 0 || r.species >= int(p.species_list.size()))
    refuse("species ", r.species, " of ", p.species_list.size());
  if (r.count < 2) refuse("count = ", r.count, ": at least 2");
  if (r.every < 1) refuse("every = ", r.every, ": at least 1");
  if (!(r.least_weight >= 0) || !std::isfinite(r.least_weight))
    refuse("least_weight = ", r.least_weight, ": at least 0");
}

void check_secondary(const plan& p, const secondary_emission& e) {
  for (const int s : {e.projectiles, e.emitted})
    if (s < 0 || s >= int(p.species_list.size()))
      refuse_plan("secondary emission of species ", s, " of ", p.species_list.size());
  if (!(e.temperature >= 0)) refuse_plan("secondary emission: temperature = ", e.temperature, ": at least 0");
  if (e.energy.size() < 2 || e.cosines < 2 || e.number.size() != e.energy.size() * e.cosines)
    refuse_plan("secondary emission: a table of two or more energies and cosines");
  for (std::size_t n = 0; n < e.energy.size(); ++n)
    if (!(e.energy[n] >= 0) || (n && !(e.energy[n] > e.energy[n - 1])))
      refuse_plan("secondary emission: energies rise");
  for (const double n : e.number)
    if (!(n >= 0) || !std::isfinite(n)) refuse_plan("secondary emission: ", n, " particles of an impact: at least 0");
  for (int d = 0; d < 3; ++d)
    for (int side = 0; side < 2; ++side)
      if (e.at[d][side] && (d >= p.dimensions || p.particle_boundaries[d][side] != particle_boundary::absorbed))
        refuse_plan("secondary emission: the ", side_names[side], " side of ", p.axis_name(d), " absorbs no particles");
}

void check_permittivity(const plan& p) {
  if (p.permittivity.empty()) return;
  if (!p.electrostatic || !p.bounded()) refuse_plan("dielectrics need an electrostatic plan with a conducting side");
  std::size_t all = 1;
  for (int d = 0; d < p.dimensions; ++d) all *= std::size_t(p.cells[d]);
  if (p.permittivity.size() != all) refuse_plan("permittivity: of ", p.permittivity.size(), " of ", all, " cells");
  for (const double e : p.permittivity)
    if (!(e >= 1) || !std::isfinite(e)) refuse_plan("permittivity = ", e, ": at least 1");
}

void check_circuit(const plan& p, std::size_t number) {
  const circuit& c = p.circuits[number];
  const auto refuse = [&](const auto&... parts) { refuse_plan("circuit ", c.name, ": ", parts...); };
  const int sides = 2 * p.dimensions;
  if (!p.electrostatic) refuse("it needs an electrostatic solver");
  if (c.electrode < 0 || c.electrode >= sides + int(p.conductors.size()) ||
      (c.electrode < sides && !p.wall(c.electrode / 2, c.electrode % 2)))
    refuse("electrode ", c.electrode, " is no conducting side and no conductor");
  if (!(c.resistance >= 0) || !(c.inductance >= 0) || !(c.capacitance >= 0) || !std::isfinite(c.resistance) ||
      !std::isfinite(c.inductance) || !std::isfinite(c.capacitance))
    refuse("resistance, inductance and capacitance are at least 0");
  if (!c.floating && c.resistance == 0 && c.inductance == 0 && c.capacitance == 0)
    refuse("a short circuit, without resistance, inductance and capacitance");
  int others = 0;
  for (int d = 0; d < p.dimensions; ++d) others += p.wall(d, 0) + p.wall(d, 1);
  if (p.circuits.size() >= std::size_t(others) + p.conductors.size())
    refuse("one conducting side or conductor at least has a potential of its own");
  for (std::size_t other = 0; other < number; ++other)
    if (p.circuits[other].electrode == c.electrode || p.circuits[other].name == c.name)
      refuse("another one has its electrode or name");
  if (c.electrode < sides) return;
  const auto touches = [&](std::int64_t node, std::size_t other) {
    const auto& of = p.conductors[other].nodes;
    return int(other) != c.electrode - sides && std::ranges::binary_search(of, node);
  };
  for (const auto node : p.conductors[std::size_t(c.electrode - sides)].nodes) {
    const std::array<std::int64_t, 3> at{node % p.nodes(0), node / p.nodes(0) % p.nodes(1),
                                         node / (std::int64_t(p.nodes(0)) * p.nodes(1))};
    for (int d = 0; d < p.dimensions; ++d)
      if ((p.wall(d, 0) && at[std::size_t(d)] == 0) || (p.wall(d, 1) && at[std::size_t(d)] == p.cells[d]))
        refuse("a short circuit: its conductor touches a side of the box");
    for (std::size_t other = 0; other < p.conductors.size(); ++other)
      if (touches(node, other)) refuse("a short circuit: its conductor touches another one");
  }
}

void check_modes(const plan& p) {
  if (p.modes < 1 || p.modes > 16) refuse_plan("modes = ", p.modes, ": from 1 to 16");
  if (p.modes == 1) return;
  if (!p.cylinder || p.electrostatic)
    refuse_plan("modes = ", p.modes, ": 1 but in a cylinder with Maxwell's equations");
  if (p.at_nodes) refuse_plan("modes: means at the nodes are of the mode 0 alone");
  if (!p.emitters.empty() || !p.collision_pairs.empty() || !p.scatterings.empty() || !p.resamplings.empty() ||
      !p.secondaries.empty() || !p.field_ionisations.empty())
    refuse_plan("modes: emission, collisions, gases, ionisation and merging are of the mode 0 alone");
}

void check_cylinder(const plan& p) {
  check_modes(p);
  if (!p.cylinder) return;
  if (p.dimensions != 2) refuse_plan("a cylinder has two dimensions, z and r");
  if (p.field_boundaries[1][1] != field_boundary::conducting) refuse_plan("the outer side of a cylinder conducts");
  if (p.curl != stencil::yee) refuse_plan("a cylinder has Yee's stencil only");
  for (const antenna& a : p.antennas)
    if (p.modes < 2 || a.normal != 0 || a.oblique() || !(a.waist > 0) || a.centre[1] != 0)
      refuse_plan("an antenna of a cylinder needs the mode 1, the normal z, a waist, and the axis as its centre");
  if (p.filter_passes > 0) refuse_plan("filter_passes = ", p.filter_passes, ": 0 in a cylinder");
  if (!p.permittivity.empty()) refuse_plan("a cylinder has no dielectrics");
  for (const resampling& r : p.resamplings)
    if (r.splits) refuse_plan("resampling ", r.name, ": a cylinder has merging only");
  for (const auto& map : p.external.maps)
    if (!map.empty()) refuse_plan("a cylinder has no external fields from files");
}

void check_window(const plan& p) {
  if (p.window.speed == 0) return;
  if (!(p.window.speed > 0 && p.window.speed <= 1) || !(p.window.start >= 0))
    refuse_plan("window: speed = ", p.window.speed, " is above 0 and up to 1, start = ", p.window.start, " at least 0");
  if (p.electrostatic || !p.emitters.empty() || !p.conductors.empty())
    refuse_plan("window: without plates, conductors in the box and electrostatic fields");
  if (p.periodic(0)) refuse_plan("window: the sides of x are not periodic");
  for (const gas_scattering& g : p.scatterings)
    if (g.density.size() * g.temperature.size() * g.drift[0].size() * g.drift[1].size() * g.drift[2].size() > 1)
      refuse_plan("window: a gas is the same everywhere");
  if ((p.field_boundaries[0][0] == field_boundary::absorbing ||
       p.field_boundaries[0][1] == field_boundary::absorbing) &&
      p.cells[0] / p.patches[0] < p.layer)
    refuse_plan("window: an absorbing layer lies within one patch, of at least ", p.layer, " cells in x");
}

}  // namespace

void plan::check() const {
  if (dimensions < 1 || dimensions > 3) refuse_plan("a mesh of ", dimensions, " dimensions: 1, 2 or 3");
  if (order < 1 || order > 3) refuse_plan("order = ", order, ": shapes have order 1, 2 or 3");
  double all = 1;
  for (int d = 0; d < 3; ++d) {
    if (d >= dimensions) {
      if (cells[d] != 1 || patches[d] != 1)
        refuse_plan("a mesh of ", dimensions, " dimensions has one cell and one patch in ", axis_name(d));
      continue;
    }
    if (!(lengths[d] > 0) || !std::isfinite(lengths[d]))
      refuse_plan("lengths: ", lengths[d], " in ", axis_name(d), " is not above 0");
    if (cells[d] < guard())
      refuse_plan("cells: ", cells[d], " in ", axis_name(d), ", at least ", guard(), " with order ", order);
    if (patches[d] < 1 || cells[d] / patches[d] < guard())
      refuse_plan("patches: ", patches[d], " in ", axis_name(d), ", from 1 to ", cells[d] / guard(),
                  ", since each has at least ", guard(), " of the ", cells[d], " cells with order ", order);
    all *= patches[d];
    check_sides(*this, d);
  }
  double patch_cells = 1;
  for (int e = 0; e < 3; ++e) patch_cells *= cells[e] / patches[e] + 1 + 2 * guard();
  if (patch_cells > 1e9) refuse_plan("patches: one of them has ", patch_cells, " cells, at most 1e9");
  if (all > 1e7) refuse_plan("patches: ", all, " of them, at most 1e7");
  if (!(dt > 0) || !std::isfinite(dt)) refuse_plan("dt = ", dt, ": above 0");
  if (!electrostatic && !(dt < courant()))
    refuse_plan("dt = ", dt, ": above 0 and below the Courant limit ", courant(),
                curl != stencil::yee ? ", the least side of a cell"
                : cylinder           ? " of its modes"
                                     : " = 1 / sqrt(sum 1 / dx^2)");
  for (std::size_t s = 0; s < species_list.size(); ++s) {
    const species& k = species_list[s];
    if (k.name.empty()) refuse_plan("a species has no name");
    for (std::size_t t = 0; t < s; ++t)
      if (species_list[t].name == k.name) refuse_plan("two species have the name \"", k.name, "\"");
    if (!(k.mass > 0) || !std::isfinite(k.mass)) refuse_plan("mass of \"", k.name, "\" = ", k.mass, ": above 0");
    if (!std::isfinite(k.charge)) refuse_plan("charge of \"", k.name, "\" = ", k.charge, " is not finite");
  }
  for (std::size_t n = 0; n < emitters.size(); ++n) check_emitter(*this, n);
  for (std::size_t n = 0; n < antennas.size(); ++n) check_antenna(*this, n);
  check_cylinder(*this);
  check_permittivity(*this);
  if (conductors.size() > 65000) refuse_plan(conductors.size(), " conductors: at most 65000");
  for (std::size_t n = 0; n < conductors.size(); ++n) check_conductor(*this, n);
  for (const collision_pair& e : collision_pairs) check_collision_pair(*this, e);
  for (const gas_scattering& g : scatterings) check_scattering(*this, g);
  for (const reaction& r : reactions) check_reaction(*this, r);
  for (const resampling& r : resamplings) check_resampling(*this, r);
  for (const secondary_emission& e : secondaries) check_secondary(*this, e);
  for (std::size_t n = 0; n < circuits.size(); ++n) check_circuit(*this, n);
  check_window(*this);
  for (int d = 0; d < dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      if (electrostatic && field_boundaries[d][side] == field_boundary::absorbing)
        refuse_plan("the ", side_names[side], " side of ", axis_name(d),
                    ": an electrostatic field has no absorbing sides");
      if (!std::isfinite(potentials[d][side]) || (potentials[d][side] != 0 && (!electrostatic || !wall(d, side))))
        refuse_plan("potential of the ", side_names[side], " side of ", axis_name(d), " = ", potentials[d][side],
                    ": a number, other than 0 only at conducting sides of an electrostatic run");
    }
}

}  // namespace plaq::pic
