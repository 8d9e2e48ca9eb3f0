#include "plaq/pic/processes/loading.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "plaq/base/error.hpp"
#include "plaq/pic/mesh/streams.hpp"

namespace plaq::pic {

namespace {

/// Returns the cell's number in the box, the same for any patches; x slowest, so that it continues with a window.
std::uint64_t number_in_box(const plan& p, const patch_grid& m, const point& cell) {
  std::uint64_t out = 0;
  for (int d = 0; d < 3; ++d) out = out * std::uint64_t(p.cells[d]) + std::uint64_t(m.first[d] + cell[d]);
  return out;
}

/// Returns the points of a grid in each dimension: a product that is `all`, as equal as possible, the most in x.
point grid_of(int all, int dimensions) {
  point out{1, 1, 1};
  for (int d = dimensions; d-- > 0;) {
    int n = d == 0 ? all : int(std::pow(double(all), 1.0 / (d + 1)) + 1e-9);
    while (all % n != 0) --n;
    out[d] = n;
    all /= n;
  }
  return out;
}

/// Returns the azimuth of the first particle of a cell, in turns, the same for all species. Further ones follow by the
/// golden section, so that any number of them is spread evenly.
double first_azimuth(const plan& p, std::uint64_t cell) {
  return unit_interval(random_words(stream_of(p.seed, random_purpose::azimuths, 0, cell), 0)[0]);
}

constexpr std::uint64_t draws_per_particle = 1 << 10;  ///< of a Juettner distribution

}  // namespace

std::vector<double> make_positions(const plan& p, const patch_grid& m, std::uint32_t stream, int per_cell, bool even,
                                   int from_x) {
  if (per_cell < 1) throw input_error("per_cell = " + std::to_string(per_cell) + ": at least 1");
  const point grid = grid_of(per_cell, p.dimensions);
  std::vector<double> out;
  const region r = own_cells(m);
  out.reserve(r.size() * std::size_t(per_cell) * std::size_t(p.dimensions));
  point at;
  for (at[2] = 0; at[2] < r.high[2]; ++at[2])
    for (at[1] = 0; at[1] < r.high[1]; ++at[1])
      for (at[0] = from_x; at[0] < r.high[0]; ++at[0]) {
        const auto from = stream_of(p.seed, random_purpose::positions, stream, number_in_box(p, m, at));
        for (int n = 0; n < per_cell; ++n) {
          const auto word = random_words(from, std::uint64_t(n));
          const point k{n % grid[0], n / grid[0] % grid[1], n / grid[0] / grid[1]};
          for (int d = 0; d < p.dimensions; ++d) {
            const double in_cell = even ? (k[d] + 0.5) / grid[d] : unit_interval(word[std::size_t(d)]);
            out.push_back((m.first[d] + at[d] + in_cell) * p.spacing(d));
          }
        }
      }
  return out;
}

std::array<double, 3> draw_juttner(const stream_id& stream, std::uint64_t index, double temperature) {
  const double root = std::sqrt(temperature);
  // Weights of the gamma distributions of shape 3/2, 2, 5/2, 3 in the mixture of proposals.
  const std::array<double, 4> weights{std::sqrt(std::numbers::pi / 2), root,
                                      1.5 * std::sqrt(std::numbers::pi / 2) * temperature, 2 * temperature * root};
  const double all = weights[0] + weights[1] + weights[2] + weights[3];
  for (std::uint64_t tries = 0; tries < draws_per_particle / 2; ++tries) {
    const auto a = random_words(stream, index + 2 * tries), b = random_words(stream, index + 2 * tries + 1);
    double chosen = all * unit_interval(a[0]);
    std::size_t shape = 0;
    while (shape < 3 && chosen >= weights[shape]) chosen -= weights[shape++];
    double x = -std::log(above_zero(a[1]));
    if (shape >= 1) x -= std::log(above_zero(a[2]));
    if (shape == 3) x -= std::log(above_zero(a[3]));
    if (shape % 2 == 0) {  // half a normal number's square has the shape 1/2
      const double normal = normal_pair(b[2], a[3])[0];
      x += normal * normal / 2;
    }
    if (unit_interval(b[3]) * (std::sqrt(2 * x) + root * x) > std::sqrt(x * (2 + temperature * x))) continue;
    const double u = std::sqrt(temperature * x * (2 + temperature * x));
    const double z = 2 * unit_interval(b[0]) - 1, phi = 2 * std::numbers::pi * unit_interval(b[1]);
    const double across = u * std::sqrt(1 - z * z);
    return {across * std::cos(phi), across * std::sin(phi), u * z};
  }
  throw input_error("a Juettner distribution of temperature " + std::to_string(temperature) + " mc^2 cannot be drawn");
}

std::array<double, 3> boost(const std::array<double, 3>& u, const std::array<double, 3>& drift) {
  const double along = u[0] * drift[0] + u[1] * drift[1] + u[2] * drift[2];
  const double g = std::sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  const double drift_gamma = std::sqrt(1 + drift[0] * drift[0] + drift[1] * drift[1] + drift[2] * drift[2]);
  std::array<double, 3> out;
  for (std::size_t c = 0; c < 3; ++c) out[c] = u[c] + drift[c] * (g + along / (1 + drift_gamma));
  return out;
}

std::array<double, 3> flip_along(std::array<double, 3> u, const std::array<double, 3>& drift, std::uint64_t word) {
  const double dot = u[0] * drift[0] + u[1] * drift[1] + u[2] * drift[2];
  const double square = drift[0] * drift[0] + drift[1] * drift[1] + drift[2] * drift[2];
  const double g = std::sqrt(1 + u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  if (-dot > unit_interval(word) * g * std::sqrt(1 + square))
    for (std::size_t c = 0; c < 3; ++c) u[c] -= 2 * dot / square * drift[c];
  return u;
}

std::vector<number_in_cell> numbers_by_cell(const plan& p, const patch_grid& m, std::span<const double> x) {
  const std::size_t dims = std::size_t(p.dimensions), n = x.size() / dims;
  std::vector<number_in_cell> out(n);
  std::unordered_map<std::uint64_t, std::uint64_t> count_in_cell;
  for (std::size_t i = 0; i < n; ++i) {
    point cell{};
    for (std::size_t d = 0; d < dims; ++d)
      cell[d] = std::clamp(int(std::floor(x[i * dims + d] / m.spacing[d] - m.first[d])), 0, m.cells[d] - 1);
    const auto in_box = number_in_box(p, m, cell);
    out[i] = {in_box, count_in_cell[in_box]++};
  }
  return out;
}

std::array<double, 4> draw_uniform(const plan& p, std::size_t species, const number_in_cell& particle,
                                   std::uint64_t round) {
  const auto words = random_words(stream_of(p.seed, random_purpose::momenta, std::uint32_t(species), particle.cell),
                                  (particle.number << 20) + round);
  return {unit_interval(words[0]), unit_interval(words[1]), unit_interval(words[2]), unit_interval(words[3])};
}

template <class T>
void load(const plan& p, patch<T>& self, std::size_t s, const particle_source& source) {
  const patch_grid& m = self.mesh;
  const std::size_t n = source.w.size(), dims = std::size_t(p.dimensions);
  if (source.x.size() != n * dims || source.drift.size() != 3 * n || source.thermal.size() != 3 * n)
    throw input_error("load: x, drift and thermal have other numbers of entries than w");
  particles<T>& to = self.species[s];
  self.sorted = false;
  const auto numbers = numbers_by_cell(p, m, source.x);
  for (std::size_t i = 0; i < n; ++i) {
    point cell{};
    std::array<double, 3> part{};
    for (std::size_t d = 0; d < dims; ++d) {
      const double at = source.x[i * dims + d] / m.spacing[d] - m.first[d];
      if (!(at >= 0 && at <= m.cells[d]))
        throw input_error("load: a particle of \"" + p.species_list[s].name + "\" at " +
                          std::to_string(source.x[i * dims + d]) + " is not in patch " + std::to_string(self.number));
      cell[d] = std::min(int(at), m.cells[d] - 1);
      part[d] = at - cell[d];
    }
    const auto [in_box, number] = numbers[i];
    const auto stream = stream_of(p.seed, random_purpose::momenta, std::uint32_t(s), in_box);
    std::array<double, 3> u;
    const double *drift = source.drift.data() + 3 * i, *thermal = source.thermal.data() + 3 * i;
    if (source.juttner) {
      const std::array<double, 3> along{drift[0], drift[1], drift[2]};
      const std::uint64_t first_word = number * draws_per_particle;
      u = boost(flip_along(draw_juttner(stream, first_word, thermal[0]), along,
                           random_words(stream, first_word + draws_per_particle - 1)[0]),
                along);
    } else {
      const auto word = random_words(stream, number);
      const auto first = normal_pair(word[0], word[1]), second = normal_pair(word[2], word[3]);
      const std::array<double, 3> normal{first[0], first[1], second[0]};
      for (std::size_t c = 0; c < 3; ++c) u[c] = drift[c] + thermal[c] * normal[c];
    }
    if (!std::isfinite(u[0]) || !std::isfinite(u[1]) || !std::isfinite(u[2]) || !std::isfinite(source.w[i]))
      throw input_error("load: a particle of \"" + p.species_list[s].name +
                        "\" has a momentum or weight that is not finite");
    for (std::size_t d = 0; d < dims; ++d) to.cell[d].push_back(cell[d]), to.x[d].push_back(T(part[d]));
    for (std::size_t c = 0; c < 3; ++c) to.u[c].push_back(T(u[c]));
    to.w.push_back(T(source.w[i]));
    if (p.modes > 1) {
      const double turns = first_azimuth(p, in_box) + double(number) * (std::numbers::phi - 1);
      const double theta = 2 * std::numbers::pi * (turns - std::floor(turns));
      to.azimuth[0].push_back(T(std::cos(theta))), to.azimuth[1].push_back(T(std::sin(theta)));
    }
    if (p.species_list[s].tracked) to.id.push_back(self.new_id(p));
    self.next_row[record::at(s, record::emitted)] += 1;
    self.next_row[record::at(s, record::emitted_weight)] += double(to.w.back());
  }
}

template void load(const plan&, patch<float>&, std::size_t, const particle_source&);
template void load(const plan&, patch<double>&, std::size_t, const particle_source&);

}  // namespace plaq::pic
