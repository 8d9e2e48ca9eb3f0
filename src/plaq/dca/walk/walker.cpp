#include "plaq/dca/walk/walker.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/walk/fill.hpp"
#include "plaq/dca/walk/spin_flip.hpp"
#include "plaq/linalg/gemm.hpp"
#include "plaq/linalg/inverse.hpp"
#include "plaq/linalg/sum.hpp"
#include "plaq/trace/region.hpp"

namespace plaq::dca {

using linalg::gemm;

namespace {
constexpr int sigma_of[2] = {+1, -1};
constexpr int traced_order =
    64;  // least order of a traced block; smaller blocks take microseconds, and a trace of them gigabytes
}  // namespace

template <class Real>
walker<Real>::walker(const expansion& parameters, std::shared_ptr<const g0_table> g0, int block_length)
    : parameters_(parameters),
      g0_(std::move(g0)),
      block_length_(block_length),
      strength_(parameters),
      g_equal_((*g0_)(0, 0., 0, 0.)),
      worm_(parameters, g0_),
      charge_worm_(parameters, g0_) {
  check(block_length > 0, "walker: block_length must be positive");
  check(g0_->sites() == parameters.sites && g0_->beta() == parameters.beta, "walker: g0 belongs to another problem");
}

template <class Real>
void walker<Real>::reset(configuration start) {
  configuration_ = std::move(start);
  for (const vertex& v : configuration_.vertices)
    check(v.site >= 0 && v.site < parameters_.sites && v.tau >= 0 && v.tau < parameters_.beta &&
              (v.spin == 1 || v.spin == -1),
          "walker: a vertex lies outside the problem");
  for (sector& s : sectors_) s.n.reshape(0, 0);
  rebuild();
}

template <class Real>
typename walker<Real>::fresh_matrices walker<Real>::compute_matrices() const {
  const int k = order();
  fresh_matrices fresh;
  for (int side = 0; side < 2; ++side) {
    auto& n = fresh.n[side];
    n.reshape(k, k);
    for (int j = 0; j < k; ++j) {
      const double x = strength_(sigma_of[side], configuration_.vertices[j].spin);
      for (int i = 0; i < k; ++i) n(i, j) = (i == j ? 1 + x : 0.) - g_all_(i, j) * x;
    }
    const linalg::log_det det = linalg::invert(k, n.data(), n.stride());
    fresh.sign *= det.sign;
    fresh.log += det.log;
  }
  return fresh;
}

template <class Real>
void walker<Real>::adopt(const fresh_matrices& fresh) {
  if (!std::isfinite(fresh.log)) throw runtime_failure("walker: the weight is not finite");
  const int k = order();
  for (int side = 0; side < 2; ++side) {
    sector& s = sectors_[side];
    s.n.reshape(k, k);
    s.strength.resize(k);
    for (int j = 0; j < k; ++j) {
      s.strength[j] = Real(strength_(sigma_of[side], configuration_.vertices[j].spin));
      for (int i = 0; i < k; ++i) s.n(i, j) = Real(fresh.n[side](i, j));
    }
  }
  configuration_.sign = fresh.sign * parameters_.sign_of_factor(k);
}

template <class Real>
void walker<Real>::tabulate_g0() {
  const auto& vertices = configuration_.vertices;
  const int k = order();
  g_all_.reshape(k, k);
  for (int j = 0; j < k; ++j)
    for (int i = 0; i < k; ++i)
      g_all_(i, j) = i == j ? g_equal_ : (*g0_)(vertices[i].site, vertices[i].tau, vertices[j].site, vertices[j].tau);
}

template <class Real>
double walker<Real>::rebuild() {
  const int k = order();
  tabulate_g0();
  const fresh_matrices fresh = compute_matrices();
  double drift = 0;
  for (int side = 0; side < 2; ++side) {
    const auto& n = sectors_[side].n;
    if (n.rows() != k) continue;  // nothing to compare with after a reset
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < k; ++i) {
        const double change = std::abs(double(n(i, j)) - fresh.n[side](i, j));
        if (!std::isfinite(change)) throw runtime_failure("walker: N holds a value that is not finite");
        drift = std::max(drift, change);
      }
  }
  adopt(fresh);
  return drift;
}

// Ratio of a flipped site. With S its vertices, y = (e^{-V} - 1) / (e^V - 1) = -e^{-V} and N (1-g) = (1-N) / (e^V - 1),
// det N^-1 changes by det B, B = 1 + [1 - N]_SS (y - 1).
template <class Real>
bool walker<Real>::flip_site(const stream_id& stream, std::uint64_t number) {
  // Choice: all vertices of one site; the reverse move is the same
  const auto word = random_words(stream, number);
  const int site = int(below(word[3], parameters_.sites));
  std::vector<int> on_site;
  for (int i = 0; i < order(); ++i)
    if (configuration_.vertices[i].site == site) on_site.push_back(i);
  const int m = int(on_site.size());

  // Weight: both spins' determinants
  double log_ratio = 0;
  linalg::matrix<double> b(m, m);
  for (const sector& s : sectors_) {
    for (int j = 0; j < m; ++j) {
      const double change = flip_factor(double(s.strength[on_site[j]])) - 1;
      for (int i = 0; i < m; ++i) b(i, j) = (i == j ? 1 + change : 0.) - double(s.n(on_site[i], on_site[j])) * change;
    }
    log_ratio += linalg::invert(m, b.data(), b.stride()).log;
  }
  if (!(unit_interval(word[2]) < std::exp(log_ratio))) return false;

  for (int i : on_site) configuration_.vertices[i].spin *= -1;
  adopt(compute_matrices());
  return true;
}

template <class Real>
bool walker<Real>::send_worm(const stream_id& stream, std::uint64_t first, int longest) {
  if (order() == 0) return false;
  if (!worm_.walk<Real>(configuration_.vertices, {&sectors_[0].n, &sectors_[1].n}, stream, first, longest))
    return false;
  for (int i : worm_.flipped_vertices()) configuration_.vertices[i].spin *= -1;
  tabulate_g0();
  adopt(compute_matrices());
  return true;
}

template <class Real>
bool walker<Real>::send_charge_worm(const stream_id& stream, std::uint64_t first, int longest) {
  if (!charge_worm_.walk<Real>(configuration_.vertices, {&sectors_[0].n, &sectors_[1].n}, stream, first, longest))
    return false;
  configuration_.vertices = charge_worm_.vertices();
  tabulate_g0();
  adopt(compute_matrices());
  return true;
}

template <class Real>
void walker<Real>::propose(const stream_id& stream, std::uint64_t first, int count) {
  const int blocks = (count + block_length_ - 1) / block_length_;
  for (int b = 0; b < blocks; ++b) {
    const int begin = int(std::int64_t(count) * b / blocks), end = int(std::int64_t(count) * (b + 1) / blocks);
    run_block(stream, first + begin, end - begin);
  }
}

template <class Real>
void walker<Real>::run_block(const stream_id& stream, std::uint64_t first, int count) {
  {
    trace::region scope("prepare block", order() >= traced_order);
    prepare_block(stream, first, count);
  }
  int next = 0;
  for (const auto& word : words_) {
    const double u = unit_interval(word[2]);
    bool accepted = false;
    if (word[0] & 1)
      accepted = try_insert(next++, u);
    else if (!alive_.empty())
      accepted = try_remove(int(below(word[3], alive_.size())), u);
    counts_.accepted += accepted;
  }
  counts_.proposed += words_.size();
  finish_block();
}

template <class Real>
void walker<Real>::prepare_block(const stream_id& stream, std::uint64_t first, int count) {
  const int k = order();
  words_.clear();
  candidates_.clear();
  for (int i = 0; i < count; ++i) {
    const auto& w = words_.emplace_back(random_words(stream, first + i));
    if (w[0] & 1) {
      vertex v;
      v.spin = w[0] & 2 ? 1 : -1;
      v.site = int(below(w[3], parameters_.sites));
      v.tau = unit_interval(w[1]) * parameters_.beta;
      candidates_.push_back({v, {strength_(+1, v.spin), strength_(-1, v.spin)}});
    }
  }
  const int c = int(candidates_.size());

  sites_.resize(k);
  taus_.resize(k);
  alive_.resize(k);
  for (int i = 0; i < k; ++i) {
    sites_[i] = configuration_.vertices[i].site;
    taus_[i] = configuration_.vertices[i].tau;
    alive_[i] = {false, i};
  }
  changed_.clear();

  g_forward_.reshape(k, c);
  g_backward_.reshape(k, c);
  g_candidates_.reshape(c, c);
  for (int j = 0; j < c; ++j) {
    const vertex& v = candidates_[j].v;
    g0_->both_directions(k, sites_.data(), taus_.data(), v.site, v.tau, g_forward_.column(j), g_backward_.column(j));
    for (int i = 0; i < c; ++i) {
      const vertex& other = candidates_[i].v;
      g_candidates_(i, j) = i == j ? g_equal_ : (*g0_)(other.site, other.tau, v.site, v.tau);
    }
  }
  for (sector& s : sectors_) {
    s.b.reset(count);
    s.column.resize(count);
    s.row.resize(count);
    s.a.reshape(k, c);
    s.g_back.reshape(k, c);
    s.w.reshape(c, c);
    gemm<Real>(false, false, s.n.whole_rows(), c, k, 1, s.n.data(), s.n.stride(), g_forward_.data(),
               g_forward_.stride(), 0, s.a.data(), s.a.stride());
    for (int j = 0; j < c; ++j) {
      const Real* g = g_backward_.column(j);
      Real* out = s.g_back.column(j);
      for (int i = 0; i < k; ++i) out[i] = g[i] * s.strength[i];
    }
    gemm<Real>(true, false, c, c, k, 1, s.g_back.data(), s.g_back.stride(), s.a.data(), s.a.stride(), 0, s.w.data(),
               s.w.stride());
  }
}

// Element of B = 1 + [N (1-g)] X with N extended to the candidates, for which e^V - 1 = 0 before the block:
// N = [[N, 0], [g x N, 1]]. Where x = e^V - 1 does not vanish, N (1-g) = (1-N) / x.
template <class Real>
double walker<Real>::matrix_entry(const sector& s, int side, element row, element column) const {
  if (column.candidate) {
    const double x = candidates_[column.index].strength[side];
    if (!row.candidate) return -x * double(s.a(row.index, column.index));
    const double same = row.index == column.index ? 1 : 0;
    return same + x * (same - g_candidates_(row.index, column.index) - double(s.w(row.index, column.index)));
  }
  if (!row.candidate) return double(s.n(row.index, column.index));
  const Real* g = s.g_back.column(row.index);
  const Real* n = s.n.column(column.index);
  return linalg::sum_in_lanes<16>(s.n.rows(), [&](int l) { return g[l] * n[l]; });
}

template <class Real>
double walker<Real>::determinant_ratio(sector& s, int side, element e) {
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    s.column[i] = matrix_entry(s, side, changed_[i], e);
    s.row[i] = matrix_entry(s, side, e, changed_[i]);
  }
  return s.b.ratio_append(s.column.data(), s.row.data(), matrix_entry(s, side, e, e));
}

template <class Real>
bool walker<Real>::try_insert(int candidate, double u) {
  // Choice: a random vertex, drawn in prepare_block
  const element e{true, candidate};

  // Proposal: 2 beta Nc vertices can be inserted, k + 1 removed again; with the factor K / (2 beta Nc) of a vertex
  double ratio = parameters_.K / double(alive_.size() + 1);

  // Weight: both spins' determinants
  for (int side = 0; side < 2; ++side) ratio *= determinant_ratio(sectors_[side], side, e);
  if (!(u < std::abs(ratio))) return false;

  for (sector& s : sectors_) s.b.append(s.row.data());
  changed_.push_back(e);
  alive_.push_back(e);
  if (ratio < 0) configuration_.sign = -configuration_.sign;
  return true;
}

template <class Real>
bool walker<Real>::try_remove(int position, double u) {
  // Choice: one of the present vertices
  const element e = alive_[position];
  const auto same = [e](element other) { return other.candidate && other.index == e.index; };
  const int row = e.candidate ? int(std::ranges::find_if(changed_, same) - changed_.begin()) : 0;

  // Proposal: k vertices can be removed, 2 beta Nc inserted again
  double ratio = double(alive_.size()) / parameters_.K;

  // Weight: both spins' determinants; a vertex of this block leaves B, an old one enters it
  for (int side = 0; side < 2; ++side)
    ratio *= e.candidate ? sectors_[side].b.ratio_remove(row) : determinant_ratio(sectors_[side], side, e);
  if (!(u < std::abs(ratio))) return false;

  if (e.candidate) {
    for (sector& s : sectors_) s.b.remove(row);
    changed_[row] = changed_.back();
    changed_.pop_back();
  } else {
    for (sector& s : sectors_) s.b.append(s.row.data());
    changed_.push_back(e);
  }
  alive_[position] = alive_.back();
  alive_.pop_back();
  if (ratio < 0) configuration_.sign = -configuration_.sign;
  return true;
}

template <class Real>
void walker<Real>::finish_block() {
  if (changed_.empty()) return;
  trace::region scope("update N", order() >= traced_order);

  // Accepted vertices join at the end. Then the last vertex moves to each gap, the highest gap first.
  auto& vertices = configuration_.vertices;
  gaps_.clear();
  for (element e : changed_)
    if (e.candidate)
      vertices.push_back(candidates_[e.index].v);
    else
      gaps_.push_back(e.index);
  std::sort(gaps_.rbegin(), gaps_.rend());
  for (int side = 0; side < 2; ++side) update(sectors_[side], side);
  close_gaps(vertices.data(), int(vertices.size()));
  vertices.resize(vertices.size() - gaps_.size());
}

// Moves the last of `count` values to each gap, the highest gap first; values beyond the new end are unspecified.
template <class Real>
template <class Value>
void walker<Real>::close_gaps(Value* values, int count) const {
  for (int gap : gaps_) values[gap] = values[--count];
}

// Moves the last columns of a matrix to the gaps likewise.
template <class Real>
void walker<Real>::close_columns(linalg::matrix<Real>& m) const {
  int last = m.columns();
  for (int gap : gaps_)
    if (gap != --last) std::copy_n(m.column(last), m.rows(), m.column(gap));
}

// N' = N - [N (1-g)]_{:S} X_S B^-1 N_{S:} on the old vertices and the accepted candidates, without the removed ones.
template <class Real>
void walker<Real>::update(sector& s, int side) {
  const int k = s.n.rows(), m = int(changed_.size());
  std::vector<int> accepted;  // candidate numbers
  for (element e : changed_)
    if (e.candidate) accepted.push_back(e.index);
  const int c = int(accepted.size()), size = k + c;

  // lower = N_{candidates, old} = (x g)^T N.
  accepted_back_.reshape(k, c);
  for (int j = 0; j < c; ++j) std::copy_n(s.g_back.column(accepted[j]), k, accepted_back_.column(j));
  lower_.reshape(c, k);
  gemm<Real>(true, false, c, k, k, 1, accepted_back_.data(), accepted_back_.stride(), s.n.data(), s.n.stride(), 0,
             lower_.data(), lower_.stride());

  left_.reshape(size, m);
  right_.reshape(m, size);
  for (int b = 0; b < m; ++b) {
    const element e = changed_[b];
    Real* column = left_.column(b);
    if (e.candidate) {
      const Real x = Real(candidates_[e.index].strength[side]);
      const Real* a = s.a.column(e.index);
      for (int i = 0; i < k; ++i) column[i] = -x * a[i];
      for (int i = 0; i < c; ++i) {
        const double same = accepted[i] == e.index ? 1 : 0;
        column[k + i] =
            Real(double(x) * (same - g_candidates_(accepted[i], e.index) - double(s.w(accepted[i], e.index))));
      }
    } else {
      std::copy_n(s.n.column(e.index), k, column);
      for (int i = 0; i < c; ++i) column[k + i] = lower_(i, e.index);
      column[e.index] -= 1;
    }
  }
  for (int j = 0; j < size; ++j) {
    Real* column = right_.column(j);
    int added = 0;
    for (int b = 0; b < m; ++b) {
      const element e = changed_[b];
      if (e.candidate)
        column[b] = j < k ? lower_(added, j) : Real(j - k == added), ++added;
      else
        column[b] = j < k ? s.n(e.index, j) : Real(0);
    }
  }
  s.n.resize(size, size);
  for (int j = 0; j < k; ++j) std::copy_n(lower_.column(j), c, s.n.column(j) + k);
  for (int j = k; j < size; ++j) {
    std::fill_n(s.n.column(j), size, Real(0));
    s.n(j, j) = 1;
  }
  for (int candidate : accepted) s.strength.push_back(Real(candidates_[candidate].strength[side]));

  const int after = size - int(gaps_.size());
  close_columns(s.n);
  close_columns(right_);
  for (int j = 0; j < after; ++j) close_gaps(s.n.column(j), size);
  for (int b = 0; b < m; ++b) close_gaps(left_.column(b), size);
  close_gaps(s.strength.data(), size);
  s.n.resize(after, after);
  s.strength.resize(after);

  b_inverse_.reshape(m, m);
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < m; ++i) b_inverse_(i, j) = Real(s.b.data()[i + std::size_t(j) * s.b.stride()]);
  solved_.reshape(m, after);
  gemm<Real>(false, false, m, after, m, 1, b_inverse_.data(), b_inverse_.stride(), right_.data(), right_.stride(), 0,
             solved_.data(), solved_.stride());
  gemm<Real>(false, false, s.n.whole_rows(), after, m, -1, left_.data(), left_.stride(), solved_.data(),
             solved_.stride(), 1, s.n.data(), s.n.stride());
}

template <class Real>
void walker<Real>::fill(sample& out) const {
  dca::fill<Real>(
      out, parameters_, configuration_, [](int i) { return i; },
      [&](int side, int slot) { return sectors_[side].n.column(slot); });
}

template class walker<double>;
template class walker<float>;

}  // namespace plaq::dca
