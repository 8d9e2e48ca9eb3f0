#include "plaq/dca/ctint/walker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/linalg/inverse.hpp"

namespace plaq::dca::ctint {

walker::walker(const interacting_cluster& cluster)
    : cluster_(cluster), place_(cluster), sectors_(std::size_t(cluster.blocks())) {
  check_consistent(cluster);
  double sum = 0;
  for (int t = 0; t < int(cluster.types.size()); ++t) {
    const auto& weight = cluster.types[std::size_t(t)].weight;
    for (int s = 0; s < int(weight.size()); ++s) choices_.push_back({sum += std::abs(weight[std::size_t(s)]), t, s});
  }
  insertion_ = sum * cluster.beta * cluster.cells;
}

void walker::reset(configuration start) {
  configuration_ = std::move(start);
  for (const vertex& v : configuration_.vertices) check(place_.contains(v), "ctint: a vertex lies outside the problem");
  rows_.resize(configuration_.vertices.size());
  for (sector& s : sectors_) {
    s.legs.clear();
    s.origins.clear();
    s.inverse.reset(0);
  }
  for (int i = 0; i < order(); ++i)
    for (int side = 0; side < 2; ++side) {
      const vertex& v = configuration_.vertices[std::size_t(i)];
      sector& s = sectors_[std::size_t(cluster_.types[std::size_t(place_.type_of(v))].legs[std::size_t(side)].block)];
      rows_[std::size_t(i)][std::size_t(side)] = int(s.legs.size());
      s.legs.push_back(place_(v, side));
      s.origins.push_back({i, side});
    }
  rebuild();
}

double walker::element_of(int block, const sector& s, int row, int column) const {
  const auto& [i, left] = s.origins[std::size_t(row)];
  const auto& [j, right] = s.origins[std::size_t(column)];
  const placed_leg &a = s.legs[std::size_t(row)], &b = s.legs[std::size_t(column)];
  if (i != j) return element(cluster_.bath(block), a, b);
  return element_within(cluster_.bath(block), a, b, left < right) - (row == column ? a.alpha : 0.);
}

double walker::rebuild() {
  double drift = 0, log = 0;
  configuration_.sign = 1;
  for (const vertex& v : configuration_.vertices)
    if (place_.weight(v) > 0) configuration_.sign = -configuration_.sign;
  for (int block = 0; block < cluster_.blocks(); ++block) {
    sector& s = sectors_[std::size_t(block)];
    const int k = int(s.legs.size());
    linalg::matrix<double> fresh(k, k);
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < k; ++i) fresh(i, j) = element_of(block, s, i, j);
    const linalg::log_det det = linalg::invert(k, fresh.data(), fresh.stride());
    configuration_.sign *= det.sign;
    log += det.log;
    if (s.inverse.size() == k)  // else after a reset
      for (int j = 0; j < k; ++j)
        for (int i = 0; i < k; ++i) {
          const double change = std::abs(s.inverse.inverse()(i, j) - fresh(i, j));
          if (!std::isfinite(change)) throw runtime_failure("ctint: D^-1 holds a value that is not finite");
          drift = std::max(drift, change);
        }
    auto& to = s.inverse.reset(k);
    for (int j = 0; j < k; ++j) std::copy_n(fresh.column(j), k, to.column(j));
  }
  if (!std::isfinite(log)) throw runtime_failure("ctint: the weight is not finite");
  return drift;
}

void walker::propose(const stream_id& stream, std::uint64_t first, int count) {
  for (int i = 0; i < count; ++i) {
    const auto word = random_words(stream, first + std::uint64_t(i));
    bool accepted = false;
    if (word[0] & 1)
      accepted = !choices_.empty() && try_insert(word);
    else
      accepted = order() > 0 && try_remove(word);
    counts_.accepted += accepted;
  }
  counts_.proposed += std::uint64_t(count);
}

bool walker::try_insert(const std::array<std::uint64_t, 4>& word) {
  // Choice: type and s with a probability proportional to |weight|; cell and time uniform
  const double at = unit_interval(word[0]) * choices_.back().up_to;
  const auto found = std::ranges::upper_bound(choices_, at, {}, &choice::up_to);
  const choice& c = found == choices_.end() ? choices_.back() : *found;
  vertex v;
  v.site = c.type * cluster_.cells + int(below(word[3], std::uint64_t(cluster_.cells)));
  v.spin = c.s;
  v.tau = unit_interval(word[1]) * cluster_.beta;

  // Weight -w dtau of a vertex over the density of proposals; k + 1 can be removed again
  const double sign = place_.weight(v) > 0 ? -1 : 1;
  const double ratio = sign * insertion_ / (order() + 1) * ratio_with(v);
  if (!(unit_interval(word[2]) < std::abs(ratio))) return false;

  configuration_.vertices.push_back(v);
  rows_.emplace_back();
  commit();
  if (ratio < 0) configuration_.sign = -configuration_.sign;
  return true;
}

bool walker::try_remove(const std::array<std::uint64_t, 4>& word) {
  const int position = int(below(word[3], std::uint64_t(order())));
  auto& vertices = configuration_.vertices;
  const double sign = place_.weight(vertices[std::size_t(position)]) > 0 ? -1 : 1;
  const double ratio = sign * order() / insertion_ * ratio_without(position);
  if (!(unit_interval(word[2]) < std::abs(ratio))) return false;

  commit();
  // The last vertex moves to the gap.
  const int last = order() - 1;
  if (position != last) {
    vertices[std::size_t(position)] = vertices[std::size_t(last)];
    rows_[std::size_t(position)] = rows_[std::size_t(last)];
    const auto& legs = cluster_.types[std::size_t(place_.type_of(vertices[std::size_t(position)]))].legs;
    for (std::size_t side = 0; side < 2; ++side)
      sectors_[std::size_t(legs[side].block)].origins[std::size_t(rows_[std::size_t(position)][side])].vertex =
          position;
  }
  vertices.pop_back();
  rows_.pop_back();
  if (ratio < 0) configuration_.sign = -configuration_.sign;
  return true;
}

/// Ratio of the determinants with one more vertex.
double walker::ratio_with(const vertex& v) {
  const auto& legs = cluster_.types[std::size_t(place_.type_of(v))].legs;
  for (sector& s : sectors_) s.out.clear(), s.in_legs.clear(), s.in_origins.clear();
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[std::size_t(legs[std::size_t(side)].block)];
    s.in_legs.push_back(place_(v, side));
    s.in_origins.push_back({order(), side});
  }
  double ratio = 1;
  for (int block = 0; block < cluster_.blocks(); ++block) {
    sector& s = sectors_[std::size_t(block)];
    const int count = int(s.in_legs.size()), k = int(s.legs.size());
    if (count == 0) continue;
    const g0_table& g0 = cluster_.bath(block);
    auto& in = s.inverse.prepare(count);
    for (int b = 0; b < count; ++b) {
      const placed_leg& added = s.in_legs[std::size_t(b)];
      for (int i = 0; i < k; ++i) in.columns(i, b) = element(g0, s.legs[std::size_t(i)], added);
      for (int i = 0; i < k; ++i) in.rows(i, b) = element(g0, added, s.legs[std::size_t(i)]);
      for (int a = 0; a < count; ++a)
        in.corner(a, b) =
            element_within(g0, s.in_legs[std::size_t(a)], added, a < b) - (a == b ? added.alpha : 0.);
    }
    ratio *= s.inverse.try_exchange(s.out);
  }
  return ratio;
}

/// Ratio of the determinants without a vertex.
double walker::ratio_without(int position) {
  const auto& legs =
      cluster_.types[std::size_t(place_.type_of(configuration_.vertices[std::size_t(position)]))].legs;
  for (sector& s : sectors_) s.out.clear(), s.in_legs.clear(), s.in_origins.clear();
  for (std::size_t side = 0; side < 2; ++side)
    sectors_[std::size_t(legs[side].block)].out.push_back(rows_[std::size_t(position)][side]);
  double ratio = 1;
  for (sector& s : sectors_) {
    if (s.out.empty()) continue;
    s.inverse.prepare(0);
    ratio *= s.inverse.try_exchange(s.out);
  }
  return ratio;
}

/// Carries out the exchange that was tried last, in all blocks.
void walker::commit() {
  for (sector& s : sectors_) {
    if (s.out.empty() && s.in_legs.empty()) continue;
    s.inverse.exchange();
    linalg::exchanged_inverse::exchange_in(s.legs, s.out, s.in_legs);
    linalg::exchanged_inverse::exchange_in(s.origins, s.out, s.in_origins);
    // Rows that moved or are new.
    const auto note = [&](int row) {
      if (row < int(s.origins.size()))
        rows_[std::size_t(s.origins[std::size_t(row)].vertex)][std::size_t(s.origins[std::size_t(row)].side)] = row;
    };
    for (const int row : s.out) note(row);
    for (std::size_t i = 0; i < s.in_legs.size(); ++i) note(int(s.origins.size() - 1 - i));
  }
}

namespace {

/// Returns the positions of these legs in the order of their flavours, and the operators in it.
std::vector<int> order_by(const std::vector<placed_leg>& legs, int placed_leg::* flavour, int flavours, operators& out) {
  out.first.assign(std::size_t(flavours) + 1, 0);
  for (const placed_leg& l : legs) ++out.first[std::size_t(l.*flavour) + 1];
  for (int x = 0; x < flavours; ++x) out.first[std::size_t(x) + 1] += out.first[std::size_t(x)];
  std::vector<int> next(out.first.begin(), out.first.end() - 1), position(legs.size());
  for (std::size_t i = 0; i < legs.size(); ++i) position[std::size_t(next[std::size_t(legs[i].*flavour)]++)] = int(i);
  out.tau.resize(legs.size());
  out.flavour.resize(legs.size());
  for (std::size_t p = 0; p < legs.size(); ++p) {
    out.tau[p] = legs[std::size_t(position[p])].tau;
    out.flavour[p] = legs[std::size_t(position[p])].*flavour;
  }
  return position;
}

}  // namespace

void walker::fill(sample& out) const {
  out.sign = configuration_.sign;
  out.order = order();
  out.blocks.resize(sectors_.size());
  for (std::size_t block = 0; block < sectors_.size(); ++block) {
    const sector& s = sectors_[block];
    block_sample& to = out.blocks[block];
    const auto rows = order_by(s.legs, &placed_leg::create, cluster_.flavours(), to.create);
    const auto columns = order_by(s.legs, &placed_leg::annihilate, cluster_.flavours(), to.annihilate);
    const int k = int(rows.size());
    to.m.reshape(k, k);
    for (int j = 0; j < k; ++j) {
      const double* from = s.inverse.inverse().column(columns[std::size_t(j)]);
      float* column = to.m.column(j);
      for (int i = 0; i < k; ++i) column[i] = float(from[rows[std::size_t(i)]]);
    }
  }
}

}  // namespace plaq::dca::ctint
