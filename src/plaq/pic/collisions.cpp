#include "plaq/pic/collisions.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "plaq/pic/streams.hpp"

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;

double dot(const vector& a, const vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// A unit vector's turn by an angle, anywhere around it.
vector turned(const vector& p, double cosine, double phi) {
  const double sine = std::sqrt(std::fmax(0, 1 - cosine * cosine)), across = std::hypot(p[0], p[1]),
               size = std::sqrt(dot(p, p));
  const double a = sine * std::cos(phi), b = sine * std::sin(phi);
  if (across <= 1e-10 * size) return {size * a, size * b, p[2] * cosine};
  return {(p[0] * p[2] * a - p[1] * size * b) / across + p[0] * cosine,
          (p[1] * p[2] * a + p[0] * size * b) / across + p[1] * cosine, -across * a + p[2] * cosine};
}

/// Numbers of particles by cell, and for each cell where its own begin.
struct by_cell {
  std::vector<std::uint32_t> first, which;
};
template <class T>
by_cell listed(const block& m, const particles<T>& all) {
  by_cell out;
  out.first.assign(m.size() + 1, 0), out.which.resize(all.size());
  std::vector<std::uint32_t> cell(all.size(), std::uint32_t(m.origin()));
  for (int d = 0; d < m.dimensions; ++d)
    for (std::size_t i = 0; i < all.size(); ++i) cell[i] += std::uint32_t(all.cell[d][i] * m.stride[d]);
  for (const auto c : cell) ++out.first[c + 1];
  for (std::size_t c = 0; c < m.size(); ++c) out.first[c + 1] += out.first[c];
  auto next = out.first;
  for (std::size_t i = 0; i < all.size(); ++i) out.which[next[cell[i]]++] = std::uint32_t(i);
  return out;
}

/// An order at random (Fisher, Yates, 1938), by the stream's words from `from` on.
void shuffle(std::span<std::uint32_t> list, const stream_id& stream, std::uint64_t from) {
  std::array<std::uint64_t, 4> words{};
  for (std::size_t i = list.size(), used = 0; i > 1; --i, ++used) {
    if (used % 4 == 0) words = random_words(stream, from + used / 4);
    std::swap(list[i - 1], list[below(words[used % 4], i)]);
  }
}

struct partners {
  std::uint32_t a, b;
};

}  // namespace

double deflection(double s, double u) {
  if (s < 1e-12) return 1;
  if (s < 0.1) return std::fmax(-1, 1 + s * std::log(1 - u));
  if (s >= 6) return 2 * u - 1;
  const double over =
      s < 3 ? 0.0056958 + s * (0.9560202 + s * (-0.508139 + s * (0.47913906 + s * (-0.12788975 + s * 0.02389567))))
            : std::exp(s) / 3;
  const double a = 1 / over;
  return std::clamp(over * std::log(std::exp(-a) + 2 * u * std::sinh(a)), -1.0, 1.0);
}

std::array<vector, 2> deflected(const plan& p, double logarithm, const meeting_of_two& who, double dense, double limit,
                                const std::array<std::uint64_t, 4>& words) {
  std::array<vector, 2> momentum;
  std::array<double, 2> energy;
  vector all{};
  for (std::size_t k = 0; k < 2; ++k) {
    energy[k] = who.mass[k] * std::sqrt(1 + dot(who.u[k], who.u[k]));
    for (std::size_t c = 0; c < 3; ++c) momentum[k][c] = who.mass[k] * who.u[k][c], all[c] += momentum[k][c];
  }
  const double together = energy[0] + energy[1];
  const vector v{all[0] / together, all[1] / together, all[2] / together};
  const double v2 = dot(v, v), g = 1 / std::sqrt(1 - v2);
  const double stretch = g * g / (1 + g);  // (g - 1) / v^2
  const auto to_centre = [&](const vector& q, double e, double sign) {
    vector out;
    const double by = stretch * dot(v, q) - sign * g * e;
    for (std::size_t c = 0; c < 3; ++c) out[c] = q[c] + by * v[c];
    return out;
  };
  const vector one = to_centre(momentum[0], energy[0], 1);
  const double size2 = dot(one, one);
  if (!(size2 > 0)) return who.u;
  const double size = std::sqrt(size2);
  std::array<double, 2> in_centre;
  for (std::size_t k = 0; k < 2; ++k) in_centre[k] = g * (energy[k] - dot(v, momentum[k]));
  const double charges = who.charge[0] * who.charge[1], closer = in_centre[0] * in_centre[1] / size2 + 1;
  double s = p.coupling * logarithm * charges * charges * dense / (energy[0] * energy[1]) * g * size / together *
             closer * closer;
  const double relative = size * together / (in_centre[0] * in_centre[1] * g);  // velocity, as the particles see it
  s = std::fmin(s, limit * relative);
  const vector after =
      turned(one, deflection(s, unit_interval(words[0])), 2 * std::numbers::pi * unit_interval(words[1]));
  const vector other{-after[0], -after[1], -after[2]};
  const std::array<vector, 2> back{to_centre(after, in_centre[0], -1), to_centre(other, in_centre[1], -1)};
  std::array<vector, 2> out;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t c = 0; c < 3; ++c) out[k][c] = back[k][c] / who.mass[k];
  return out;
}

template <class T>
void collide(const plan& p, patch<T>& me) {
  const auto is_due = [&](const encounter& e) { return me.step % e.every == 0; };
  if (std::ranges::none_of(p.encounters, is_due)) return;
  const block& m = me.mesh;
  const double volume = m.volume();
  std::vector<by_cell> lists;
  for (const auto& all : me.kinds) lists.push_back(listed(m, all));
  std::vector<std::uint32_t> a, b;
  std::vector<partners> pairs;
  for (std::size_t n = 0; n < p.encounters.size(); ++n) {
    const encounter& e = p.encounters[n];
    if (!is_due(e)) continue;
    const auto one = std::size_t(e.first), other = std::size_t(e.second);
    particles<T>&of_a = me.kinds[one], &of_b = me.kinds[other];
    for (std::size_t cell = 0; cell < m.size(); ++cell) {
      const auto in_cell = [&](std::size_t s) {
        return std::vector<std::uint32_t>(lists[s].which.begin() + lists[s].first[cell],
                                          lists[s].which.begin() + lists[s].first[cell + 1]);
      };
      a = in_cell(one);
      if (a.size() < (one == other ? 2 : 1)) continue;
      if (one != other) b = in_cell(other);
      if (one != other && b.empty()) continue;
      const auto stream = stream_of(p.seed, draws::collisions, std::uint32_t(n), std::uint64_t(me.number) << 32 | cell,
                                    std::uint64_t(me.step));
      const std::uint64_t later = std::uint64_t(1) << 40;
      shuffle(a, stream, 0);
      pairs.clear();
      double density_a = 0, density_b = 0, lighter = 0;
      for (const auto i : a) density_a += double(of_a.w[i]) / volume;
      if (one == other) {
        density_b = density_a;
        const std::size_t rest = a.size() / 2;  // an odd one meets somebody who has met another already
        for (std::size_t i = 0; i < a.size() - rest; ++i) pairs.push_back({a[i], a[a.size() - rest + i % rest]});
      } else {
        shuffle(b, stream, later);
        for (const auto i : b) density_b += double(of_b.w[i]) / volume;
        for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
          pairs.push_back({a[i % a.size()], b[i % b.size()]});
      }
      for (const auto& [i, j] : pairs) lighter += double(std::min(of_a.w[i], of_b.w[j])) / volume;
      if (one == other) lighter *= 2;  // each is the other's target
      const double dense = density_a * density_b / lighter * e.every * p.dt;
      const double ma = p.kinds[one].mass, mb = p.kinds[other].mass;
      const double limit = std::cbrt(4 * std::numbers::pi / 3) * p.crowding * dense * (ma + mb) /
                           std::max(ma * std::pow(density_a, 2.0 / 3), mb * std::pow(density_b, 2.0 / 3));
      for (std::size_t k = 0; k < pairs.size(); ++k) {
        const auto [i, j] = pairs[k];
        meeting_of_two who{{ma, mb}, {p.kinds[one].charge, p.kinds[other].charge}, {}};
        for (std::size_t c = 0; c < 3; ++c) who.u[0][c] = double(of_a.u[c][i]), who.u[1][c] = double(of_b.u[c][j]);
        const auto words = random_words(stream, 2 * later + k);
        const auto after = deflected(p, e.logarithm, who, dense, limit, words);
        const double wa = double(of_a.w[i]), wb = double(of_b.w[j]),
                     chance = unit_interval(words[2]) * std::max(wa, wb);
        for (std::size_t c = 0; c < 3; ++c) {
          if (chance < wb) of_a.u[c][i] = T(after[0][c]);
          if (chance < wa) of_b.u[c][j] = T(after[1][c]);
        }
      }
    }
  }
}

template void collide(const plan&, patch<float>&);
template void collide(const plan&, patch<double>&);

}  // namespace plaq::pic
