#include "plaq/pic/plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <string_view>

#include "plaq/base/error.hpp"
#include "plaq/pic/emission.hpp"

namespace plaq::pic {

namespace {

constexpr std::array<std::string_view, 3> axis{"x", "y", "z"};
constexpr std::array<std::string_view, 2> end{"low", "high"};

template <class Enum>
Enum named(const std::string& name, std::span<const std::string_view> all, const char* what) {
  std::string list;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (name == all[i]) return Enum(i);
    list += (i ? ", " : "") + std::string(all[i]);
  }
  throw input_error(std::string(what) + " \"" + name + "\" is not one of " + list);
}

template <class... Part>
[[noreturn]] void wrong(const Part&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw input_error(text.str());
}

void check_sides(const plan& p, int d) {
  const auto& f = p.borders[d];
  const auto& w = p.walls[d];
  if ((f[0] == border::periodic) != (f[1] == border::periodic))
    wrong("sides of ", axis[d], ": fields are periodic at both sides or at none");
  for (int s = 0; s < 2; ++s) {
    if ((w[s] == wall::periodic) != (f[s] == border::periodic))
      wrong("the ", end[s], " side of ", axis[d], ": particles and fields are periodic together");
    if (w[s] == wall::thermal && !(p.wall_temperature > 0))
      wrong("wall_temperature = ", p.wall_temperature, ": a thermal wall needs one above 0");
    if (f[s] == border::absorbing && (p.layer < 2 || p.layer > p.cells[d] / 2))
      wrong("layer = ", p.layer, ": an absorbing layer has from 2 to ", p.cells[d] / 2, " of the ", p.cells[d],
            " cells in ", axis[d]);
  }
}

void check_emitter(const plan& p, std::size_t number) {
  const emitter& e = p.emitters[number];
  const auto bad = [&](const auto&... what) { wrong("emitter ", number + 1, ": ", what...); };
  if (e.kind < 0 || e.kind >= int(p.kinds.size())) bad("species ", e.kind, " of ", p.kinds.size());
  if (!(e.weight > 0) || !std::isfinite(e.weight)) bad("weight = ", e.weight, ": above 0");
  if (!(e.temperature >= 0)) bad("temperature = ", e.temperature, ": at least 0");
  if (!(e.half_width >= 0)) bad("half_width = ", e.half_width, ": at least 0");
  if (p.dimensions > 1 && e.half_width == 0) bad("half_width = 0: above 0 but in one dimension");
  double length = 0;
  for (int d = 0; d < p.dimensions; ++d) length += e.normal[d] * e.normal[d];
  if (!(std::abs(length - 1) < 1e-9)) bad("the normal has the length ", std::sqrt(length), ", not 1");
  const frame f = frame_of(p, e);
  for (int d = 0; d < p.dimensions; ++d) {
    const double far =
        e.half_width * ((p.dimensions > 1) * std::abs(f.first[d]) + (p.dimensions > 2) * std::abs(f.second[d]));
    if (!(e.at[d] - far >= -1e-9 * p.lengths[d] && e.at[d] + far <= (1 + 1e-9) * p.lengths[d]))
      bad("it reaches from ", e.at[d] - far, " to ", e.at[d] + far, " in ", axis[d], ", and the box ends at ",
          p.lengths[d]);
  }
  if (e.space_charge_limited) {
    if (side_of(p, e).side < 0)
      bad("one that is limited by space charge lies on a conducting side of the box, its normal into the box");
    if (p.kinds[std::size_t(e.kind)].charge == 0) bad("what has no charge is not limited by space charge");
  } else if (e.given.empty()) {
    bad("it needs a flux");
  }
}

void check_antenna(const plan& p, std::size_t number) {
  const antenna& a = p.antennas[number];
  const auto bad = [&](const auto&... what) { wrong("antenna ", number + 1, ": ", what...); };
  if (p.electrostatic) bad("an electrostatic field has no light");
  if (a.normal < 0 || a.normal >= p.dimensions)
    bad("normal = ", a.normal, ": one of the ", p.dimensions, " dimensions");
  const double h = p.spacing(a.normal);
  if (!(a.at >= h && a.at <= p.lengths[a.normal] - h)) bad("at = ", a.at, ": within the box, a cell from its sides");
  if (!(a.omega > 0 && a.omega * p.dt < 2 * std::min(1.0, p.dt / h)))
    bad("omega = ", a.omega, ": above 0, with more than two steps and cells to a wave");
  if (!(a.waist >= 0) || !std::isfinite(a.field) || !std::isfinite(a.focus) || !std::isfinite(a.phase) ||
      !std::isfinite(a.angle))
    bad("field, focus, phase and angle are numbers, waist is at least 0");
  for (const double f : a.envelope)
    if (!std::isfinite(f)) bad("its envelope is no number");
}

void check_conductor(const plan& p, std::size_t number) {
  const conductor& c = p.conductors[number];
  std::int64_t all = 1, last = -1;
  for (int d = 0; d < 3; ++d) all *= p.nodes(d);
  if (c.nodes.empty()) wrong("conductor ", number + 1, ": it has no nodes of the mesh");
  for (const auto n : c.nodes) {
    if (n <= last || n >= all) wrong("conductor ", number + 1, ": nodes are from 0 to ", all - 1, ", in rising order");
    last = n;
  }
  if (!std::isfinite(c.potential) || (c.potential != 0 && !p.electrostatic))
    wrong("conductor ", number + 1, ": potential = ", c.potential, ": a number, 0 unless the run is electrostatic");
  if (p.electrostatic && !p.bounded())
    wrong("conductor ", number + 1, ": in an electrostatic run a side of the box has to conduct, too");
}

void check_encounter(const plan& p, const encounter& e) {
  for (const int s : {e.first, e.second})
    if (s < 0 || s >= int(p.kinds.size())) wrong("collisions of species ", s, " of ", p.kinds.size());
  if (!(e.logarithm > 0) || !std::isfinite(e.logarithm)) wrong("the Coulomb logarithm = ", e.logarithm, ": above 0");
  if (!(p.coupling > 0) || !(p.crowding > 0)) wrong("collisions need the reference density");
  if (e.every < 1) wrong("collisions every ", e.every, " steps: at least 1");
}

void check_ionising(const plan& p, const ionising& i) {
  for (const int s : {i.by, i.electrons, i.ions})
    if (s < 0 || s >= int(p.kinds.size())) wrong("ionisation by species ", s, " of ", p.kinds.size());
  if (p.kinds[std::size_t(i.electrons)].charge + p.kinds[std::size_t(i.ions)].charge != 0)
    wrong("ionisation: charges of \"", p.kinds[std::size_t(i.electrons)].name, "\" and \"",
          p.kinds[std::size_t(i.ions)].name, "\" are not opposite");
  if (i.energy.size() < 2 || i.energy.size() != i.cross_section.size())
    wrong("ionisation: a table has two or more entries, as many energies as cross sections");
  for (std::size_t n = 0; n < i.energy.size(); ++n)
    if (!(i.energy[n] > (n ? i.energy[n - 1] : 0)) || !(i.cross_section[n] >= 0))
      wrong("ionisation: energies rise from above 0, cross sections are at least 0");
  if (!(i.loss >= 0) || !(i.energy[0] >= i.loss))
    wrong("ionisation: the table begins at ", i.energy[0], ", below the energy that it costs, ", i.loss);
  std::size_t all = 1;
  for (int d = 0; d < 3; ++d) all *= std::size_t(p.cells[d]);
  if (i.density.size() != 1 && i.density.size() != all)
    wrong("ionisation: a density of the gas for each of ", all, " cells");
  for (const double n : i.density)
    if (!(n >= 0) || !std::isfinite(n)) wrong("ionisation: the density of the gas = ", n, ": at least 0");
  if (!(i.temperature >= 0)) wrong("ionisation: temperature = ", i.temperature, ": at least 0");
}

void check_window(const plan& p) {
  if (p.window.speed == 0) return;
  if (!(p.window.speed > 0 && p.window.speed <= 1) || !(p.window.start >= 0))
    wrong("window: speed = ", p.window.speed, " is above 0 and up to 1, start = ", p.window.start, " at least 0");
  if (p.electrostatic || !p.emitters.empty() || !p.conductors.empty())
    wrong("window: without plates, conductors in the box and electrostatic fields");
  if (p.periodic(0)) wrong("window: the sides of x are not periodic");
  for (const ionising& i : p.ionisations)
    if (i.density.size() > 1) wrong("window: the gas that is ionised has the same density everywhere");
  for (int d = 1; d < p.dimensions; ++d)
    for (int side = 0; side < 2; ++side)
      if (p.borders[d][side] == border::absorbing)
        wrong("window: the sides of ", axis[d], " are periodic or conducting");
  if ((p.borders[0][0] == border::absorbing || p.borders[0][1] == border::absorbing) &&
      p.cells[0] / p.patches[0] < p.layer)
    wrong("window: an absorbing layer lies within one patch, of at least ", p.layer, " cells in x");
}

}  // namespace

pusher pusher_named(const std::string& name) {
  static constexpr std::array<std::string_view, 3> all{"boris", "vay", "higuera_cary"};
  return named<pusher>(name, all, "the pusher");
}
border border_named(const std::string& name) {
  static constexpr std::array<std::string_view, 3> all{"periodic", "conducting", "absorbing"};
  return named<border>(name, all, "the side of fields");
}
wall wall_named(const std::string& name) {
  static constexpr std::array<std::string_view, 4> all{"periodic", "absorbed", "reflected", "thermal"};
  return named<wall>(name, all, "the side of particles");
}

stencil stencil_named(const std::string& name) {
  static constexpr std::array<std::string_view, 2> all{"yee", "cowan"};
  return named<stencil>(name, all, "the stencil");
}

side_of_box side_of(const plan& p, const emitter& e) {
  for (int d = 0; d < p.dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      const double wall = side ? p.lengths[d] : 0;
      if (!p.periodic(d) && std::abs(e.at[d] - wall) <= 1e-9 * p.lengths[d] &&
          std::abs(e.normal[d] - (side ? -1 : 1)) < 1e-9)
        return {d, side};
    }
  return {};
}

void emitter::set_flux(const std::vector<double>& of_steps) {
  given.assign(1, 0);
  for (const double f : of_steps) {
    if (!(f >= 0) || !std::isfinite(f)) wrong("flux = ", f, ": at least 0");
    given.push_back(given.back() + f);
  }
  if (of_steps.empty()) given.clear();
}

double emitter::given_until(std::int64_t step) const {
  const auto last = std::int64_t(given.size()) - 1;
  if (step <= last) return given[std::size_t(step)];
  return given.back() + double(step - last) * (given.back() - given[std::size_t(last) - 1]);
}

double plan::cell_volume() const {
  double v = 1;
  for (int d = 0; d < dimensions; ++d) v *= spacing(d);
  return v;
}

double plan::courant() const {
  double sum = 0, least = spacing(0);
  for (int d = 1; d < dimensions; ++d) least = std::min(least, spacing(d));
  if (curl == stencil::cowan) return least;
  for (int d = 0; d < dimensions; ++d) sum += 1 / (spacing(d) * spacing(d));
  return 1 / std::sqrt(sum);
}

std::int64_t plan::shifted(std::int64_t step) const {
  const double time = double(step) * dt - window.start;
  return window.on() && time > 0 ? std::int64_t(std::floor(window.speed * time / spacing(0) * (1 + 1e-12))) : 0;
}

void plan::check() const {
  if (dimensions < 1 || dimensions > 3) wrong("a mesh of ", dimensions, " dimensions: 1, 2 or 3");
  if (order < 1 || order > 3) wrong("order = ", order, ": shapes have order 1, 2 or 3");
  double all = 1;
  for (int d = 0; d < 3; ++d) {
    if (d >= dimensions) {
      if (cells[d] != 1 || patches[d] != 1)
        wrong("a mesh of ", dimensions, " dimensions has one cell and one patch in ", axis[d]);
      continue;
    }
    if (!(lengths[d] > 0) || !std::isfinite(lengths[d]))
      wrong("lengths: ", lengths[d], " in ", axis[d], " is not above 0");
    if (cells[d] < guard()) wrong("cells: ", cells[d], " in ", axis[d], ", at least ", guard(), " with order ", order);
    if (patches[d] < 1 || cells[d] / patches[d] < guard())
      wrong("patches: ", patches[d], " in ", axis[d], ", from 1 to ", cells[d] / guard(), ", since each has at least ",
            guard(), " of the ", cells[d], " cells with order ", order);
    double most = 1;
    for (int e = 0; e < 3; ++e) most *= cells[e] / patches[e] + 1 + 2 * guard();
    if (most > 1e9) wrong("patches: one of them has ", most, " cells, at most 1e9");
    all *= patches[d];
    check_sides(*this, d);
  }
  if (all > 1e7) wrong("patches: ", all, " of them, at most 1e7");
  if (!(dt > 0) || !std::isfinite(dt)) wrong("dt = ", dt, ": above 0");
  if (!electrostatic && !(dt < courant()))
    wrong("dt = ", dt, ": above 0 and below the Courant limit ", courant(),
          curl == stencil::yee ? " = 1 / sqrt(sum 1 / dx^2)" : ", the least side of a cell");
  for (std::size_t s = 0; s < kinds.size(); ++s) {
    const species& k = kinds[s];
    if (k.name.empty()) wrong("a species has no name");
    for (std::size_t t = 0; t < s; ++t)
      if (kinds[t].name == k.name) wrong("two species have the name \"", k.name, "\"");
    if (!(k.mass > 0) || !std::isfinite(k.mass)) wrong("mass of \"", k.name, "\" = ", k.mass, ": above 0");
    if (!std::isfinite(k.charge)) wrong("charge of \"", k.name, "\" = ", k.charge, " is no number");
  }
  for (std::size_t n = 0; n < emitters.size(); ++n) check_emitter(*this, n);
  for (std::size_t n = 0; n < antennas.size(); ++n) check_antenna(*this, n);
  for (std::size_t n = 0; n < conductors.size(); ++n) check_conductor(*this, n);
  for (const encounter& e : encounters) check_encounter(*this, e);
  for (const ionising& i : ionisations) check_ionising(*this, i);
  check_window(*this);
  for (int d = 0; d < dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      if (electrostatic && borders[d][side] == border::absorbing)
        wrong("the ", end[side], " side of ", axis[d], ": an electrostatic field has no absorbing sides");
      if (!std::isfinite(potentials[d][side]) || (potentials[d][side] != 0 && (!electrostatic || periodic(d))))
        wrong("potential of the ", end[side], " side of ", axis[d], " = ", potentials[d][side],
              ": a number, other than 0 only at conducting sides of an electrostatic run");
    }
}

}  // namespace plaq::pic
