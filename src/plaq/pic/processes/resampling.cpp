#include "plaq/pic/processes/resampling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "plaq/pic/mesh/streams.hpp"
#include "plaq/pic/particles/kernels.hpp"
#include "plaq/pic/processes/cell_lists.hpp"

namespace plaq::pic {

namespace {

using vector = std::array<double, 3>;
using numbers = std::vector<std::uint32_t>;

constexpr std::size_t largest_packet = 4, smallest_packet = 3;
constexpr int most_bins = 16;  ///< of momenta in each direction

double dot(const vector& a, const vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
vector difference(const vector& a, const vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

/// Merging or splitting of a patch in a step.
template <class T>
class resampling_step {
 public:
  resampling_step(const plan& p, patch<T>& self, std::size_t number)
      : p_(p),
        self_(self),
        number_(number),
        by_(p.resamplings[number]),
        all_(self.species[std::size_t(by_.species)]),
        charge_(p.electrostatic ? 0 : p.species_list[std::size_t(by_.species)].source()) {}

  /// Returns whether anything changed.
  bool run() {
    const cell_lists lists = list_by_cell(self_.mesh, all_);
    for (std::size_t cell = 0; cell < self_.mesh.size(); ++cell) {
      const std::size_t count = lists.first[cell + 1] - lists.first[cell], bound = std::size_t(by_.count);
      if (by_.splits ? count == 0 || count >= bound : count <= bound) continue;
      stream_ = stream_of(p_.seed, random_purpose::resampling, std::uint32_t(number_),
                          std::uint64_t(self_.number) << 32 | std::uint64_t(cell), std::uint64_t(self_.step));
      drawn_ = words_per_use;
      if (by_.splits)
        split_in_cell(lists.in_cell(cell));
      else
        merge_in_cell(lists.in_cell(cell));
    }
    double* row = self_.row.data() + record::resampled(p_, number_);
    row[0] += double(removed_.size() + made_.size());
    std::ranges::sort(removed_, std::greater<>());
    for (const auto i : removed_) all_.remove(i, p_.dimensions);
    all_.append(made_, p_.dimensions);
    return !removed_.empty() || !made_.empty();
  }

 private:
  vector momentum(std::size_t i) const { return {double(all_.u[0][i]), double(all_.u[1][i]), double(all_.u[2][i])}; }
  std::array<std::uint64_t, 4> draw() { return random_words(stream_, drawn_++); }
  void name_anew(particles<T>& list, std::size_t i) {
    if (!list.id.empty()) list.id[i] = self_.new_id(p_);
  }

  /// Adds the current that takes a charge within its cell from one place to another in a step.
  void move_charge(double weight, const point& cell, const vector& from, const vector& to) {
    if (charge_ == 0) return;
    path<T> along{cell, {}, {}};
    for (int d = 0; d < p_.dimensions; ++d) along.start[d] = T(from[d]), along.displacement[d] = T(to[d] - from[d]);
    deposit_path(self_.mesh, p_.order, self_.f, along, charge_ * weight);
  }
  point cell_of(std::size_t i) const {
    point cell{};
    for (int d = 0; d < p_.dimensions; ++d) cell[d] = all_.cell[d][i];
    return cell;
  }
  vector place(std::size_t i) const {
    vector x{};
    for (int d = 0; d < p_.dimensions; ++d) x[std::size_t(d)] = double(all_.x[d][i]);
    return x;
  }

  // Merging ----------------------------------------------------------------------------------------------------------

  /// Merges packets of neighbours in momentum space, from narrow bins to wide ones, until as many are left as allowed.
  void merge_in_cell(numbers list) {
    shuffle(list, stream_, 0);
    vector low = momentum(list[0]), high = low;
    for (const auto i : list)
      for (std::size_t c = 0; c < 3; ++c)
        low[c] = std::min(low[c], momentum(i)[c]), high[c] = std::max(high[c], momentum(i)[c]);
    for (int bins = most_bins; list.size() > std::size_t(by_.count); bins = std::max(bins / 2, 1)) {
      std::vector<std::pair<int, std::uint32_t>> sorted;
      for (const auto i : list) {
        int bin = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          const double part = high[c] > low[c] ? (momentum(i)[c] - low[c]) / (high[c] - low[c]) : 0;
          bin = bin * bins + std::clamp(int(part * bins), 0, bins - 1);
        }
        sorted.emplace_back(bin, i);
      }
      std::ranges::stable_sort(sorted, {}, &std::pair<int, std::uint32_t>::first);
      const std::size_t before = list.size();
      list = merge_bins(sorted);
      if (bins == 1 && list.size() == before) return;  // without weight
    }
  }

  /// Merges packets of these particles, sorted by bin, and returns those that are left.
  numbers merge_bins(const std::vector<std::pair<int, std::uint32_t>>& sorted) {
    numbers left;
    std::size_t excess = sorted.size() - std::size_t(by_.count);
    for (std::size_t first = 0; first < sorted.size();) {
      std::size_t size = 1;
      while (size < std::min(largest_packet, excess + 2) && first + size < sorted.size() &&
             sorted[first + size].first == sorted[first].first)
        ++size;
      numbers packet;
      for (std::size_t k = 0; k < size; ++k) packet.push_back(sorted[first + k].second);
      first += size;
      if (excess > 0 && size >= smallest_packet && merge(packet)) {
        excess -= size - 2;
        removed_.insert(removed_.end(), packet.begin() + 2, packet.end());
        packet.resize(2);
      }
      left.insert(left.end(), packet.begin(), packet.end());
    }
    return left;
  }

  /// Turns a packet into its first two particles. Returns false where it has no weight.
  bool merge(const numbers& packet) {
    std::vector<double> w;
    std::vector<vector> u, x;
    double weight = 0;
    for (const auto i : packet)
      w.push_back(double(all_.w[i])), u.push_back(momentum(i)), x.push_back(place(i)), weight += w.back();
    if (!(weight > 0)) return false;
    const auto words = draw();
    const merged_momenta merged = merge_momenta(w, u, unit_interval(words[0]));
    const auto places = merged_places(w, u, x, merged, {words[1], words[2], words[3]});
    const point cell = cell_of(packet[0]);
    for (std::size_t k = 0; k < 2; ++k) {
      const auto to = packet[k];
      for (std::size_t i = 0; i < packet.size(); ++i) move_charge(0.5 * w[i], cell, x[i], places[k]);
      for (std::size_t c = 0; c < 3; ++c) all_.u[c][to] = T(merged.u[k][c]);
      for (int d = 0; d < p_.dimensions; ++d) all_.x[d][to] = T(places[k][std::size_t(d)]);
      all_.w[to] = T(0.5 * weight);
      name_anew(all_, to);
    }
    self_.row[record::resampled(p_, number_) + 1] += weight - 2 * double(T(0.5 * weight));
    return true;
  }

  /// Returns two places in the cell with the packet's mean, and its spread as far as that fits. The one farther up
  /// belongs to the first momentum with the probability that gives their correlation.
  std::array<vector, 2> merged_places(const std::vector<double>& w, const std::vector<vector>& u,
                                      const std::vector<vector>& x, const merged_momenta& merged,
                                      const std::array<std::uint64_t, 3>& words) const {
    std::array<vector, 2> out{};
    double weight = 0, spread_u = 0;
    vector mean_u{};
    for (std::size_t i = 0; i < w.size(); ++i) {
      weight += w[i];
      for (std::size_t c = 0; c < 3; ++c) mean_u[c] += w[i] * u[i][c];
    }
    for (double& c : mean_u) c /= weight;
    std::vector<double> along;
    for (const vector& one : u) along.push_back(dot(difference(one, mean_u), merged.direction));
    for (std::size_t i = 0; i < w.size(); ++i) spread_u += w[i] * along[i] * along[i];
    for (std::size_t d = 0; d < std::size_t(p_.dimensions); ++d) {
      double mean = 0, spread = 0, both = 0;
      for (std::size_t i = 0; i < w.size(); ++i) mean += w[i] * x[i][d] / weight;
      mean = std::clamp(mean, 0.0, 1.0);
      for (std::size_t i = 0; i < w.size(); ++i)
        spread += w[i] * (x[i][d] - mean) * (x[i][d] - mean), both += w[i] * (x[i][d] - mean) * along[i];
      const double correlation = spread * spread_u > 0 ? both / std::sqrt(spread * spread_u) : 0;
      double by = std::min({std::sqrt(spread / weight), mean, 1 - mean});
      if (2 * unit_interval(words[d]) - 1 >= correlation) by = -by;
      out[0][d] = mean + by, out[1][d] = mean - by;
    }
    return out;
  }

  // Splitting --------------------------------------------------------------------------------------------------------

  /// Splits the heaviest particles, each once, until as many are there as wanted.
  void split_in_cell(numbers list) {
    std::ranges::stable_sort(list, [this](auto a, auto b) { return all_.w[a] > all_.w[b]; });
    std::size_t count = list.size();
    for (const auto i : list) {
      if (count >= std::size_t(by_.count) || double(all_.w[i]) < 2 * by_.least_weight) return;
      const vector x = place(i);
      vector up = x, down = x;
      const auto words = draw();
      for (std::size_t d = 0; d < std::size_t(p_.dimensions); ++d) {
        const double by = (2 * unit_interval(words[d]) - 1) * std::min(x[d], 1 - x[d]);
        up[d] += by, down[d] -= by;
      }
      const T half = all_.w[i] / 2;
      all_.w[i] = half;
      made_.append(all_, i, p_.dimensions);
      for (int d = 0; d < p_.dimensions; ++d)
        all_.x[d][i] = T(up[std::size_t(d)]), made_.x[d].back() = T(down[std::size_t(d)]);
      if (!made_.id.empty()) name_anew(made_, made_.size() - 1);
      for (const vector& to : {up, down}) move_charge(double(half), cell_of(i), x, to);
      ++count;
    }
  }

  const plan& p_;
  patch<T>& self_;
  const std::size_t number_;
  const resampling& by_;
  particles<T>& all_;
  const double charge_;  ///< of weight 1, 0 where no current is needed
  stream_id stream_;
  std::uint64_t drawn_ = 0;
  numbers removed_;
  particles<T> made_;
};

}  // namespace

merged_momenta merge_momenta(std::span<const double> w, std::span<const vector> u, double chance) {
  double weight = 0, energy = 0, excess = 0;  // g, and g^2 - 1 - |mean|^2 without a difference of near numbers
  vector mean{};
  std::vector<double> gamma;
  for (std::size_t i = 0; i < w.size(); ++i) {
    gamma.push_back(std::sqrt(1 + dot(u[i], u[i])));
    weight += w[i], energy += w[i] * gamma[i];
    for (std::size_t c = 0; c < 3; ++c) mean[c] += w[i] * u[i][c];
  }
  for (double& c : mean) c /= weight;
  energy /= weight;
  std::vector<double> odds;
  double all_odds = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const vector apart = difference(u[i], u[j]);
      const double in_gamma = (dot(apart, u[i]) + dot(apart, u[j])) / (gamma[i] + gamma[j]);
      excess += w[i] * w[j] * (dot(apart, apart) - in_gamma * in_gamma);
    }
    const vector from_mean = difference(u[i], mean);
    odds.push_back(w[i] * dot(from_mean, from_mean));
    all_odds += odds.back();
  }
  if (!(excess > 0) || !(all_odds > 0)) return {{mean, mean}, {}};
  excess /= weight * weight;
  std::size_t chosen = 0;
  for (double rest = chance * all_odds - odds[0]; rest >= 0 && chosen + 1 < odds.size(); rest -= odds[chosen]) ++chosen;
  vector e = difference(u[chosen], mean);
  const double length = std::sqrt(dot(e, e));
  if (!(length > 0)) return {{mean, mean}, {}};
  for (double& c : e) c /= length;
  const double along = dot(mean, e);
  vector across = mean;
  for (std::size_t c = 0; c < 3; ++c) across[c] -= along * e[c];
  const double d = energy * std::sqrt(excess / (1 + dot(across, across) + excess));
  merged_momenta out{{mean, mean}, e};
  for (std::size_t c = 0; c < 3; ++c) out.u[0][c] += d * e[c], out.u[1][c] -= d * e[c];
  return out;
}

template <class T>
bool resample(const plan& p, patch<T>& self) {
  bool any = false;
  for (std::size_t n = 0; n < p.resamplings.size(); ++n)
    if (self.step % p.resamplings[n].every == 0) any = resampling_step<T>(p, self, n).run() || any;
  return any;
}

template bool resample(const plan&, patch<float>&);
template bool resample(const plan&, patch<double>&);

}  // namespace plaq::pic
