#include "plaq/dca/ctint/walker.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/linalg/inverse.hpp"

namespace plaq::dca::ctint {

void walker::choices::add(const interacting_cluster& c, int type) {
  const auto& weight = c.types[std::size_t(type)].weight;
  for (int s = 0; s < int(weight.size()); ++s)
    entries_.push_back({(empty() ? 0. : entries_.back().up_to) + std::abs(weight[std::size_t(s)]), type, s});
}

vertex walker::choices::draw(const interacting_cluster& c, std::uint64_t kind, std::uint64_t tau,
                             std::uint64_t cell) const {
  const double at = unit_interval(kind) * entries_.back().up_to;
  const auto found = std::ranges::upper_bound(entries_, at, {}, &entry::up_to);
  const entry& e = found == entries_.end() ? entries_.back() : *found;
  return {e.type * c.cells + int(below(cell, std::uint64_t(c.cells))), e.s, unit_interval(tau) * c.beta};
}

double walker::choices::measure(const interacting_cluster& c) const {
  return empty() ? 0 : c.beta * c.cells * entries_.back().up_to;
}

walker::walker(const interacting_cluster& cluster)
    : cluster_(cluster), place_(cluster), partners_(cluster.types.size()), sectors_(std::size_t(cluster.blocks())) {
  check_consistent(cluster);
  for (const reversal& by : cluster.reversals) check_involution(cluster, by);
  for (int t = 0; t < int(cluster.types.size()); ++t) {
    single_.add(cluster, t);
    const int partner = cluster.types[std::size_t(t)].partner;
    if (partner < 0) continue;
    paired_.add(cluster, t);
    partners_[std::size_t(t)].add(cluster, partner);
  }
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
      rows_[std::size_t(i)][std::size_t(side)] = s.legs.size();
      s.legs.push_back(place_(v, side));
      s.origins.push_back({i, side});
    }
  rebuild();
}

/// Element of D, row a and column b, of legs that belong to these vertices.
double walker::element_between(int block, const placed_leg& a, origin of_a, const placed_leg& b, origin of_b) const {
  if (of_a.vertex != of_b.vertex) return element(cluster_.bath(block), a, b);
  return element_within(cluster_.bath(block), a, b, of_a.side < of_b.side) - (of_a.side == of_b.side ? a.alpha : 0.);
}

double walker::rebuild() {
  double drift = 0, log = 0;
  configuration_.sign = 1;
  for (const vertex& v : configuration_.vertices)
    if (place_.weight(v) > 0) configuration_.sign = -configuration_.sign;
  for (int block = 0; block < cluster_.blocks(); ++block) {
    sector& s = sectors_[std::size_t(block)];
    const int k = s.legs.size();
    linalg::matrix<double> fresh(k, k);
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < k; ++i)
        fresh(i, j) =
            element_between(block, s.legs[i], s.origins[std::size_t(i)], s.legs[j], s.origins[std::size_t(j)]);
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
    const std::uint64_t number = first + std::uint64_t(i);
    const words word = random_words(stream, number);
    const bool insertion = word[0] & 1, pair = !paired_.empty() && (word[0] & 2);
    bool accepted = false;
    if (pair) {
      const words second = random_words(stream, ~number);  // the last numbers, far from those of single vertices
      accepted = insertion ? try_insert_pair(word, second) : try_remove_pair(word, second);
    } else {
      accepted = insertion ? try_insert(word) : try_remove(word);
    }
    counts_.accepted += accepted;
  }
  counts_.proposed += std::uint64_t(count);
}

bool walker::accept(double ratio, std::uint64_t word) {
  if (!(unit_interval(word) < std::abs(ratio))) return false;
  if (ratio < 0) configuration_.sign = -configuration_.sign;
  return true;
}

bool walker::try_insert(const words& word) {
  if (single_.empty()) return false;
  // Choice: type and s with a probability proportional to |weight|; cell and time uniform
  const vertex v = single_.draw(cluster_, word[0], word[1], word[3]);

  // Proposal: weight of a vertex over the density of insertion; k + 1 can be removed again
  const double ratio = single_.measure(cluster_) / (order() + 1) * ratio_with({&v, 1});
  if (!accept(ratio, word[2])) return false;
  add({&v, 1});
  return true;
}

bool walker::try_remove(const words& word) {
  if (order() == 0) return false;
  int position = int(below(word[3], std::uint64_t(order())));
  const double ratio = order() / single_.measure(cluster_) * ratio_without({&position, 1});
  if (!accept(ratio, word[2])) return false;
  remove({&position, 1});
  return true;
}

std::vector<int> walker::positions_of(int type) const {
  std::vector<int> out;
  for (int i = 0; i < order(); ++i)
    if (type < 0 ? cluster_.types[std::size_t(type_of(i))].partner >= 0 : type_of(i) == type) out.push_back(i);
  return out;
}

bool walker::try_insert_pair(const words& first, const words& second) {
  // Choice: a vertex that has a partner, and a vertex of that type
  const vertex v = paired_.draw(cluster_, first[0], first[1], first[3]);
  const int type = place_.type_of(v), partner = cluster_.types[std::size_t(type)].partner;
  const choices& of_partner = partners_[std::size_t(type)];
  const std::array added{v, of_partner.draw(cluster_, second[0], second[1], second[3])};

  // Proposal: removal picks v of all that have partners, then w of its type, which is not v
  const double paired = double(positions_of(-1).size()), others = double(positions_of(partner).size());
  const double ratio =
      paired_.measure(cluster_) / (paired + 2) * of_partner.measure(cluster_) / (others + 1) * ratio_with(added);
  if (!accept(ratio, first[2])) return false;
  add(added);
  return true;
}

bool walker::try_remove_pair(const words& first, const words& second) {
  const auto paired = positions_of(-1);
  if (paired.empty()) return false;
  const int v = paired[below(first[3], paired.size())];
  const int partner = cluster_.types[std::size_t(type_of(v))].partner;
  auto others = positions_of(partner);
  std::erase(others, v);
  if (others.empty()) return false;
  std::array removed{v, others[below(second[3], others.size())]};

  const double ratio = double(paired.size()) / paired_.measure(cluster_) * double(others.size()) /
                       partners_[std::size_t(type_of(v))].measure(cluster_) * ratio_without(removed);
  if (!accept(ratio, first[2])) return false;
  remove(removed);
  return true;
}

void walker::begin_exchange() {
  for (sector& s : sectors_) s.out.clear(), s.in_legs.clear(), s.in_origins.clear();
}

/// Ratio of the determinants with more vertices, with the sign of their weights.
double walker::ratio_with(std::span<const vertex> added) {
  begin_exchange();
  double sign = 1;
  for (int i = 0; i < int(added.size()); ++i) {
    if (place_.weight(added[std::size_t(i)]) > 0) sign = -sign;
    enter(added[std::size_t(i)], order() + i);
  }
  return sign * try_exchange();
}

/// Notes the legs of a vertex that enters at a position.
void walker::enter(const vertex& v, int position) {
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[std::size_t(cluster_.types[std::size_t(place_.type_of(v))].legs[std::size_t(side)].block)];
    s.in_legs.push_back(place_(v, side));
    s.in_origins.push_back({position, side});
  }
}

/// Ratio of the determinants after the exchange of the rows that were noted.
double walker::try_exchange() {
  double ratio = 1;
  for (int block = 0; block < cluster_.blocks(); ++block) {
    sector& s = sectors_[std::size_t(block)];
    const int count = s.in_legs.size(), k = s.legs.size();
    if (count == 0 && s.out.empty()) continue;
    const g0_table& g0 = cluster_.bath(block);
    auto& in = s.inverse.prepare(count);
    for (int b = 0; b < count; ++b) {
      const placed_leg leg = s.in_legs[b];
      double *column = in.columns.column(b), *row = in.rows.column(b);
      g0.to_points(k, s.legs.annihilate.data(), s.legs.tau.data(), leg.create, leg.tau, column);
      g0.from_points(k, s.legs.create.data(), s.legs.tau.data(), leg.annihilate, leg.tau, row);
      for (int i = 0; i < k; ++i) column[i] = -column[i], row[i] = -row[i];
      for (int a = 0; a < count; ++a)
        in.corner(a, b) =
            element_between(block, s.in_legs[a], s.in_origins[std::size_t(a)], leg, s.in_origins[std::size_t(b)]);
    }
    ratio *= s.inverse.try_exchange(s.out);
  }
  return ratio;
}

/// Ratio of the determinants without some vertices, with the sign of their weights.
double walker::ratio_without(std::span<const int> positions) {
  begin_exchange();
  double sign = 1;
  for (const int position : positions) {
    if (place_.weight(configuration_.vertices[std::size_t(position)]) > 0) sign = -sign;
    const auto& legs = cluster_.types[std::size_t(type_of(position))].legs;
    for (std::size_t side = 0; side < 2; ++side)
      sectors_[std::size_t(legs[side].block)].out.push_back(rows_[std::size_t(position)][side]);
  }
  return sign * try_exchange();
}

bool walker::flip_cell(const stream_id& stream, std::uint64_t number) {
  if (cluster_.reversals.empty()) return false;
  const words word = random_words(stream, number);
  const int cell = int(below(word[3], std::uint64_t(cluster_.cells)));
  const reversal& by = cluster_.reversals[below(word[0], cluster_.reversals.size())];
  begin_exchange();
  double weights = 1;
  std::vector<vertex> after = configuration_.vertices;
  for (int i = 0; i < order(); ++i) {
    vertex& v = after[std::size_t(i)];
    if (v.site % cluster_.cells != cell) continue;
    const auto& legs = cluster_.types[std::size_t(type_of(i))].legs;
    if (!place_.reverse(by, v)) continue;
    weights *= place_.weight(v) / place_.weight(configuration_.vertices[std::size_t(i)]);
    for (std::size_t side = 0; side < 2; ++side)
      sectors_[std::size_t(legs[side].block)].out.push_back(rows_[std::size_t(i)][side]);
    enter(v, i);
  }
  if (!accept(weights * try_exchange(), word[2])) return false;
  configuration_.vertices = std::move(after);
  commit();
  return true;
}

/// Adds the vertices of the last ratio_with.
void walker::add(std::span<const vertex> added) {
  configuration_.vertices.insert(configuration_.vertices.end(), added.begin(), added.end());
  rows_.resize(configuration_.vertices.size());
  commit();
}

/// Removes the vertices of the last ratio_without. The last vertex moves to each gap, the highest gap first.
void walker::remove(std::span<int> positions) {
  commit();
  std::ranges::sort(positions, std::greater());
  auto& vertices = configuration_.vertices;
  for (const int position : positions) {
    const int last = order() - 1;
    if (position != last) {
      vertices[std::size_t(position)] = vertices[std::size_t(last)];
      rows_[std::size_t(position)] = rows_[std::size_t(last)];
      const auto& legs = cluster_.types[std::size_t(type_of(position))].legs;
      for (std::size_t side = 0; side < 2; ++side)
        sectors_[std::size_t(legs[side].block)].origins[std::size_t(rows_[std::size_t(position)][side])].vertex =
            position;
    }
    vertices.pop_back();
    rows_.pop_back();
  }
}

/// Carries out the exchange that was tried last, in all blocks.
void walker::commit() {
  for (sector& s : sectors_) {
    if (s.out.empty() && s.in_legs.size() == 0) continue;
    s.inverse.exchange();
    s.legs.exchange(s.out, s.in_legs);
    linalg::exchanged_inverse::exchange_in(s.origins, s.out, s.in_origins);
    // Rows that moved or are new.
    const auto note = [&](int row) {
      if (row >= int(s.origins.size())) return;
      const origin& o = s.origins[std::size_t(row)];
      rows_[std::size_t(o.vertex)][std::size_t(o.side)] = row;
    };
    for (const int row : s.out) note(row);
    for (std::size_t i = 0; i < s.in_origins.size(); ++i) note(int(s.origins.size() - 1 - i));
  }
}

namespace {

/// Returns the positions of legs with these flavours and times in the order of the flavours, and the operators in it.
std::vector<int> order_by(const std::vector<int>& flavour, const std::vector<double>& tau, int flavours,
                          operators& out) {
  out.first.assign(std::size_t(flavours) + 1, 0);
  for (const int x : flavour) ++out.first[std::size_t(x) + 1];
  for (int x = 0; x < flavours; ++x) out.first[std::size_t(x) + 1] += out.first[std::size_t(x)];
  std::vector<int> next(out.first.begin(), out.first.end() - 1), position(flavour.size());
  for (std::size_t i = 0; i < flavour.size(); ++i) position[std::size_t(next[std::size_t(flavour[i])]++)] = int(i);
  out.tau.resize(flavour.size());
  out.flavour.resize(flavour.size());
  for (std::size_t p = 0; p < flavour.size(); ++p) {
    out.tau[p] = tau[std::size_t(position[p])];
    out.flavour[p] = flavour[std::size_t(position[p])];
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
    const auto rows = order_by(s.legs.create, s.legs.tau, cluster_.flavours(), to.create);
    const auto columns = order_by(s.legs.annihilate, s.legs.tau, cluster_.flavours(), to.annihilate);
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
