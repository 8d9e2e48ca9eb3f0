#include "plaq/pic/plan.hpp"

#include <cmath>
#include <span>
#include <sstream>
#include <string_view>

#include "plaq/base/error.hpp"

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
      wrong("layer = ", p.layer, ": an absorbing layer has from 2 to ", p.cells[d] / 2, " of the ", p.cells[d], " cells in ",
            axis[d]);
  }
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

double plan::cell_volume() const {
  double v = 1;
  for (int d = 0; d < dimensions; ++d) v *= spacing(d);
  return v;
}

double plan::courant() const {
  double sum = 0;
  for (int d = 0; d < dimensions; ++d) sum += 1 / (spacing(d) * spacing(d));
  return 1 / std::sqrt(sum);
}

void plan::check() const {
  if (dimensions < 1 || dimensions > 3) wrong("a mesh of ", dimensions, " dimensions: 1, 2 or 3");
  if (order < 1 || order > 3) wrong("order = ", order, ": shapes have order 1, 2 or 3");
  double all = 1;
  for (int d = 0; d < 3; ++d) {
    if (d >= dimensions) {
      if (cells[d] != 1 || patches[d] != 1) wrong("a mesh of ", dimensions, " dimensions has one cell and one patch in ", axis[d]);
      continue;
    }
    if (!(lengths[d] > 0) || !std::isfinite(lengths[d])) wrong("lengths: ", lengths[d], " in ", axis[d], " is not above 0");
    if (cells[d] < guard()) wrong("cells: ", cells[d], " in ", axis[d], ", at least ", guard(), " with order ", order);
    if (patches[d] < 1 || cells[d] / patches[d] < guard())
      wrong("patches: ", patches[d], " in ", axis[d], ", from 1 to ", cells[d] / guard(), ", since each has at least ", guard(),
            " of the ", cells[d], " cells with order ", order);
    double most = 1;
    for (int e = 0; e < 3; ++e) most *= cells[e] / patches[e] + 1 + 2 * guard();
    if (most > 1e9) wrong("patches: one of them has ", most, " cells, at most 1e9");
    all *= patches[d];
    check_sides(*this, d);
  }
  if (all > 1e7) wrong("patches: ", all, " of them, at most 1e7");
  if (!(dt > 0) || !(dt < courant()))
    wrong("dt = ", dt, ": above 0 and below the Courant limit ", courant(), " = 1 / sqrt(sum 1 / dx^2)");
  for (std::size_t s = 0; s < kinds.size(); ++s) {
    const species& k = kinds[s];
    if (k.name.empty()) wrong("a species has no name");
    for (std::size_t t = 0; t < s; ++t)
      if (kinds[t].name == k.name) wrong("two species have the name \"", k.name, "\"");
    if (!(k.mass > 0) || !std::isfinite(k.mass)) wrong("mass of \"", k.name, "\" = ", k.mass, ": above 0");
    if (!std::isfinite(k.charge)) wrong("charge of \"", k.name, "\" = ", k.charge, " is no number");
  }
}

}  // namespace plaq::pic
