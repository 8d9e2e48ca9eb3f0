#include "plaq/dca/walk/charge_worm.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plaq::dca {

namespace {
constexpr int sigma_of[2] = {+1, -1};
}

charge_worm::charge_worm(const expansion& parameters, std::shared_ptr<const g0_table> g0)
    : parameters_(parameters),
      g0_(std::move(g0)),
      occupation_(parameters),
      strength_(parameters),
      g_equal_((*g0_)(0, 0., 0, 0.)),
      longest_step_(std::min(parameters.beta / 2, reach / occupation_.rate(occupation::single_up))) {}

template <class Real>
bool charge_worm::walk(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n,
                       const stream_id& stream, std::uint64_t first, int longest) {
  const double beta = parameters_.beta;
  const int sites = parameters_.sites;
  load(vertices, n);

  // Opening. Choice: a point and a step of at most longest_step_, as in closing, so that the proposals cancel
  const auto words = random_words(stream, first);
  const int side = int(words[0] & 1);
  const point a{int(below(words[3], sites)), beta * unit_interval(words[1])};
  const double distance = (2 * unit_interval(words[0]) - 1) * longest_step_;

  // Proposal: the vertices that are drawn
  const double drawn = redraw(a, distance, side, stream, first + 1);
  if (drawn == 0) return false;

  // Weight: the determinants
  const ends opened{side, a, {a.site, wrap(a.tau + distance)}};
  if (!(unit_interval(words[2]) < opening * drawn * std::abs(try_change(opened, removals_, insertions_)))) return false;
  apply();

  for (int i = 1; i <= longest; ++i) {
    const std::uint64_t at = first + std::uint64_t(i) * numbers;
    const auto word = random_words(stream, at);
    const double kind = unit_interval(word[0]), u = unit_interval(word[2]);
    const point b = ends_->b;
    if (kind < closing_probability) {
      // Closing
      double back = a.tau - b.tau;
      back -= beta * std::round(back / beta);
      if (b.site != a.site || std::abs(back) >= longest_step_) continue;
      const double ratio = redraw(b, back, side, stream, at + 1);
      if (ratio == 0 || !(u < ratio * std::abs(try_change({}, removals_, insertions_)) / opening)) continue;
      apply();
      return true;
    }
    if (kind < closing_probability + hop_probability) {
      // Hop to another site
      if (sites == 1) continue;
      const int other = (b.site + 1 + int(below(word[3], sites - 1))) % sites;
      if (u < std::abs(try_change(ends{side, a, {other, b.tau}}, {}, {}))) apply();
    } else {
      // Step in time
      const double by = (2 * unit_interval(word[1]) - 1) * longest_step_;
      const double ratio = redraw(b, by, side, stream, at + 1);
      if (ratio == 0) continue;
      if (u < ratio * std::abs(try_change(ends{side, a, {b.site, wrap(b.tau + by)}}, removals_, insertions_))) apply();
    }
  }
  return false;
}

template <class Real>
void charge_worm::load(const std::vector<vertex>& vertices, const std::array<const linalg::matrix<Real>*, 2>& n) {
  const int k = int(vertices.size());
  vertices_ = vertices;
  ends_.reset();
  sites_.resize(k);
  taus_.resize(k);
  for (int i = 0; i < k; ++i) {
    sites_[i] = vertices[i].site;
    taus_[i] = vertices[i].tau;
  }
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    s.strength.resize(k);
    linalg::matrix<double>& d = s.d.reset(k + 1);
    std::fill_n(d.column(0), k + 1, 0.);
    d(0, 0) = 1;
    for (int j = 0; j < k; ++j) {
      s.strength[j] = strength_(sigma_of[side], vertices[j].spin);
      const Real* from = n[side]->column(j);
      double* to = d.column(j + 1);
      to[0] = 0;
      for (int i = 0; i < k; ++i) to[i + 1] = double(from[i]);
    }
  }
}

double charge_worm::redraw(point from, double distance, int side, const stream_id& stream, std::uint64_t first) {
  const double begin = distance > 0 ? from.tau : from.tau + distance, length = std::abs(distance);
  const bool added = distance > 0;
  removals_.clear();
  insertions_.clear();
  occupation::spins before, after;
  for (std::size_t i = 0; i < vertices_.size(); ++i)
    if (sites_[i] == from.site && wrap(taus_[i] - begin) < length) {
      removals_.push_back(int(i));
      ++(vertices_[i].spin > 0 ? before.up : before.down);
    }
  const auto probabilities = occupation_.probabilities_after(before, length, side, added);
  const auto word = random_words(stream, first);
  const auto kind = occupation_.draw_state(probabilities, unit_interval(word[0]));
  const int number = occupation_.draw_number(kind, length, unit_interval(word[1]), most_vertices);
  if (number > most_vertices || before.all() > most_vertices) return 0;
  for (int i = 0; i < number; ++i) {
    const auto word_of = random_words(stream, first + 1 + i);
    const int spin = occupation_.draw_spin(kind, unit_interval(word_of[1]));
    insertions_.push_back({from.site, spin, wrap(begin + length * unit_interval(word_of[0]))});
    ++(spin > 0 ? after.up : after.down);
  }
  const double prefactor =
      std::pow(std::abs(parameters_.K) / (2 * parameters_.beta * parameters_.sites), after.all() - before.all());
  const auto reverse = occupation_.probabilities_after(after, length, side, !added);
  return prefactor * occupation_.density(before, length, reverse) / occupation_.density(after, length, probabilities);
}

double charge_worm::try_change(const std::optional<ends>& next, const std::vector<int>& removals,
                               const std::vector<vertex>& insertions) {
  const int k = int(vertices_.size()), p = int(insertions.size());
  next_ = next;
  tried_removals_ = removals;
  tried_insertions_ = insertions;
  forward_.reshape(k, p + 2);
  backward_.reshape(k, p + 2);
  const auto tabulate = [&](int at, int site, double tau) {
    g0_->both_directions(k, sites_.data(), taus_.data(), site, tau, forward_.column(at), backward_.column(at));
  };
  for (int c = 0; c < p; ++c) tabulate(c, insertions[c].site, insertions[c].tau);
  if (next) {
    tabulate(p, next->a.site, next->a.tau);
    tabulate(p + 1, next->b.site, next->b.tau);
  }
  double ratio = 1;
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    const bool slot = (ends_ && ends_->side == side) || (next && next->side == side);
    s.changes = slot || p > 0 || !removals.empty();
    if (!s.changes) continue;
    offer(side, slot);
    std::vector<int> leaving(slot ? 1 : 0, 0);
    for (const int i : removals) leaving.push_back(i + 1);
    ratio *= s.d.try_exchange(leaving);
    if (ratio == 0) return 0;
  }
  return ratio;
}

// Fills the new rows and columns of D; those of the worm, if it is exchanged, come first.
void charge_worm::offer(int side, bool with_slot) {
  sector& s = sectors_[side];
  const int k = int(vertices_.size()), p = int(tried_insertions_.size()), slot = with_slot ? 1 : 0;
  const bool worm = next_ && next_->side == side;
  auto& to = s.d.prepare(p + slot);
  std::vector<double> x(p);
  for (int c = 0; c < p; ++c) {
    x[c] = strength_(sigma_of[side], tried_insertions_[c].spin);
    const double *forward = forward_.column(c), *backward = backward_.column(c);
    double *column = to.columns.column(slot + c), *row = to.rows.column(slot + c);
    // The worm of before is removed, and nothing else couples to its row and column.
    column[0] = row[0] = 0;
    for (int i = 0; i < k; ++i) {
      column[i + 1] = -forward[i] * x[c];
      row[i + 1] = -backward[i] * s.strength[i];
    }
  }
  for (int c = 0; c < p; ++c)
    for (int r = 0; r < p; ++r) {
      const vertex &v = tried_insertions_[r], &w = tried_insertions_[c];
      const double g = r == c ? g_equal_ : (*g0_)(v.site, v.tau, w.site, w.tau);
      to.corner(slot + r, slot + c) = (r == c ? 1 + x[c] : 0.) - g * x[c];
    }
  if (!with_slot) return;
  std::fill_n(to.columns.column(0), k + 1, 0.);
  std::fill_n(to.rows.column(0), k + 1, 0.);
  for (int c = 0; c < p; ++c) to.corner(0, slot + c) = to.corner(slot + c, 0) = 0;
  to.corner(0, 0) = 1;
  if (!worm) return;
  const point a = next_->a, b = next_->b;
  const double *from_a = forward_.column(p), *to_b = backward_.column(p + 1);
  for (int i = 0; i < k; ++i) {
    to.columns(i + 1, 0) = -from_a[i];
    to.rows(i + 1, 0) = -to_b[i] * s.strength[i];
  }
  for (int c = 0; c < p; ++c) {
    const vertex& v = tried_insertions_[c];
    to.corner(slot + c, 0) = -(*g0_)(v.site, v.tau, a.site, a.tau);
    to.corner(0, slot + c) = -(*g0_)(b.site, b.tau, v.site, v.tau) * x[c];
  }
  to.corner(0, 0) = -(*g0_)(b.site, b.tau, a.site, a.tau);
}

void charge_worm::apply() {
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    if (s.changes) s.d.exchange();
    std::vector<double> strength;
    for (const vertex& v : tried_insertions_) strength.push_back(strength_(sigma_of[side], v.spin));
    linalg::exchanged_inverse::exchange_in(s.strength, tried_removals_, strength);
  }
  linalg::exchanged_inverse::exchange_in(vertices_, tried_removals_, tried_insertions_);
  sites_.resize(vertices_.size());
  taus_.resize(vertices_.size());
  for (std::size_t i = 0; i < vertices_.size(); ++i) {
    sites_[i] = vertices_[i].site;
    taus_[i] = vertices_[i].tau;
  }
  ends_ = next_;
}

// Returns tau modulo beta, in [0, beta).
double charge_worm::wrap(double tau) const {
  tau -= parameters_.beta * std::floor(tau / parameters_.beta);
  return tau < parameters_.beta ? tau : 0;
}

template bool charge_worm::walk<double>(const std::vector<vertex>&, const std::array<const linalg::matrix<double>*, 2>&,
                                        const stream_id&, std::uint64_t, int);
template bool charge_worm::walk<float>(const std::vector<vertex>&, const std::array<const linalg::matrix<float>*, 2>&,
                                       const stream_id&, std::uint64_t, int);
template void charge_worm::load<double>(const std::vector<vertex>&,
                                        const std::array<const linalg::matrix<double>*, 2>&);

}  // namespace plaq::dca
