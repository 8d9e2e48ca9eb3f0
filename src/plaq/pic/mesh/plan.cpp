#include "plaq/pic/mesh/plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>
#include <string_view>

#include "plaq/base/error.hpp"

namespace plaq::pic {

namespace {

template <class Enum>
Enum parse_name(const std::string& name, std::span<const std::string_view> all, const char* quantity) {
  std::string list;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (name == all[i]) return Enum(i);
    list += (i ? ", " : "") + std::string(all[i]);
  }
  throw input_error(std::string(quantity) + " \"" + name + "\" is not one of " + list);
}

}  // namespace

pusher parse_pusher(const std::string& name) {
  static constexpr std::array<std::string_view, 3> all{"boris", "vay", "higuera_cary"};
  return parse_name<pusher>(name, all, "the pusher");
}
field_boundary parse_field_boundary(const std::string& name) {
  static constexpr std::array<std::string_view, 4> all{"periodic", "conducting", "absorbing", "axis"};
  return parse_name<field_boundary>(name, all, "the side of fields");
}
particle_boundary parse_particle_boundary(const std::string& name) {
  static constexpr std::array<std::string_view, 5> all{"periodic", "absorbed", "reflected", "thermal", "axis"};
  return parse_name<particle_boundary>(name, all, "the side of particles");
}

energy_sharing parse_energy_sharing(const std::string& name) {
  static constexpr std::array<std::string_view, 4> all{"equal", "random", "opal", "none"};
  return parse_name<energy_sharing>(name, all, "the sharing of energy");
}
scattering_law parse_scattering_law(const std::string& name) {
  static constexpr std::array<std::string_view, 2> all{"isotropic", "vahedi_surendra"};
  return parse_name<scattering_law>(name, all, "the law of scattering");
}
gas_process_kind parse_gas_process(const std::string& name) {
  static constexpr std::array<std::string_view, 5> all{"elastic", "backscatter", "excitation", "ionisation",
                                                       "attachment"};
  return parse_name<gas_process_kind>(name, all, "the process");
}

emission_law parse_emission_law(const std::string& name) {
  static constexpr std::array<std::string_view, 3> all{"given", "richardson", "fowler_nordheim"};
  return parse_name<emission_law>(name, all, "the law of emission");
}

stencil parse_stencil(const std::string& name) {
  static constexpr std::array<std::string_view, 3> all{"yee", "cowan", "lehe"};
  return parse_name<stencil>(name, all, "the stencil");
}

box_side side_of(const plan& p, const emitter& e) {
  for (int d = 0; d < p.dimensions; ++d)
    for (int side = 0; side < 2; ++side) {
      const double boundary = side ? p.lengths[d] : 0;
      if (p.wall(d, side) && std::abs(e.centre[d] - boundary) <= 1e-9 * p.lengths[d] &&
          std::abs(e.normal[d] - (side ? -1 : 1)) < 1e-9)
        return {d, side};
    }
  return {};
}

double reaction::rate_at(double at) const {
  const auto above = std::ranges::upper_bound(energy, at);
  if (above == energy.begin()) return rate.front();
  if (above == energy.end()) return rate.back();
  const auto i = std::size_t(above - energy.begin());
  const double part = (at - energy[i - 1]) / (energy[i] - energy[i - 1]);
  return rate[i - 1] + part * (rate[i] - rate[i - 1]);
}

void emitter::set_flux(const std::vector<double>& flux_per_step) {
  cumulative_flux.assign(1, 0);
  for (const double f : flux_per_step) {
    if (!(f >= 0) || !std::isfinite(f)) {
      std::ostringstream text;
      text << "flux = " << f << ": at least 0";
      throw input_error(text.str());
    }
    cumulative_flux.push_back(cumulative_flux.back() + f);
  }
  if (flux_per_step.empty()) cumulative_flux.clear();
}

double emitter::flux_until(std::int64_t step) const {
  const auto last = std::int64_t(cumulative_flux.size()) - 1;
  if (step <= last) return cumulative_flux[std::size_t(step)];
  return cumulative_flux.back() +
         double(step - last) * (cumulative_flux.back() - cumulative_flux[std::size_t(last) - 1]);
}

std::string_view plan::axis_name(int d) const {
  static constexpr std::array<std::string_view, 3> of_box{"x", "y", "z"}, of_cylinder{"z", "r", "t"};
  return (cylinder ? of_cylinder : of_box)[std::size_t(d)];
}

double plan::cell_volume() const {
  double v = 1;
  for (int d = 0; d < dimensions; ++d) v *= spacing(d);
  return v;
}

std::vector<double> plan::electrode_potentials() const {
  std::vector<double> out;
  for (int d = 0; d < dimensions; ++d) out.insert(out.end(), potentials[d].begin(), potentials[d].end());
  for (const conductor& c : conductors) out.push_back(c.potential);
  return out;
}

double plan::courant() const {
  double sum = 0, least = spacing(0);
  for (int d = 1; d < dimensions; ++d) least = std::min(least, spacing(d));
  if (curl == stencil::cowan) return least;
  if (curl == stencil::lehe) {
    for (int d = 1; d < dimensions; ++d) sum += 1 / (spacing(d) * spacing(d));
    return std::min(spacing(0), 1 / std::sqrt(sum));
  }
  for (int d = 0; d < dimensions; ++d)
    sum += (cylinder && d == 1 ? radial_factor(modes) : 1) / (spacing(d) * spacing(d));
  return 1 / std::sqrt(sum);
}

std::int64_t plan::window_shift(std::int64_t step) const {
  const double time = double(step) * dt - window.start;
  return window.enabled() && time > 0 ? std::int64_t(std::floor(window.speed * time / spacing(0) * (1 + 1e-12))) : 0;
}

void plan::complete() {
  for (gas_scattering& g : scatterings) set_rate_bounds(g, species_list[std::size_t(g.projectiles)].mass);
}

}  // namespace plaq::pic
