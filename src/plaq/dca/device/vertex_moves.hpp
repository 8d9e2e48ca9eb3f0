// Vertex moves of dca::walker on a device, for many chains at once: a team walks one chain through whole sweeps.
#pragma once
#include "plaq/dca/device/matrices.hpp"

namespace plaq::dca::device {

/// Insertions and removals in blocks, by the submatrix updates of dca::walker, which defines B: N changes at the end of
/// a block. The numbers, decisions and order of vertices are those of dca::walker.
template <class Team>
class vertex_moves {
 public:
  PLAQ_BY_TEAM explicit vertex_moves(matrices<Team>& m) : m_(m), r_(m.r), team_(m.team) {}

  /// Makes the proposals first, ..., first + count - 1; returns how many were accepted.
  PLAQ_BY_TEAM int block(const stream_id& stream, std::uint64_t first, int count) {
    arena memory = m_.new_arena();
    prepare(memory, stream, first, count);
    int accepted = 0;
    for (int i = 0, next = 0; i < count; ++i) {
      const bool insertion = team_.value([&] { return s_.kind[i]; }) & 1;
      const double u = team_.value([&] { return s_.uniform[i]; });
      if (insertion)
        accepted += insert(k_ + next++, u);
      else if (alive_ > 0)
        accepted += remove(int(below(team_.value([&] { return s_.choice[i]; }), alive_)), u);
    }
    if (changed_ > 0) finish(memory);
    return accepted;
  }

  /// Proposes to flip all spins of one site, right after a rebuild, as walker::flip_site; false if that is not finite.
  PLAQ_BY_TEAM bool flip_site(const stream_id& stream, std::uint64_t number) {
    const auto word = random_words(stream, number);
    const int site = int(below(word[3], m_.rules.sites));
    arena memory = m_.new_arena();
    int* of_site;
    memory.allocate(of_site, m_.order);
    const int count =
        team_.select(m_.order, [&](int i) { return r_.site[i] == site; }, [&](int at, int i) { of_site[at] = i; });
    gpu::inverse_space inverse;
    inverse.allocate(memory, count);
    double* b;
    memory.allocate(b, std::size_t(count) * count);
    double ratio[2];
    int exponent = 0;
    for (int side = 0; side < 2; ++side) {
      team_.grid(count, count, [&](int i, int j) {
        const double change = flip_factor(m_.strength_of(side, of_site[j])) - 1;
        b[i + j * count] = std::fma(-m_.n(side, of_site[i], of_site[j]), change, i == j ? 1 + change : 0.);
      });
      const gpu::scaled det = gpu::invert(team_, count, b, count, inverse);
      ratio[side] = det.mantissa;
      exponent += det.exponent;
    }
    if (!(unit_interval(word[2]) < std::abs(std::ldexp(ratio[0] * ratio[1], exponent)))) return true;
    team_.each(count, [&](int i) { r_.spin[of_site[i]] *= -1; });
    return m_.recompute();
  }

 private:
  PLAQ_BY_TEAM bool is_candidate(int element) const { return element >= k_; }
  PLAQ_BY_TEAM double candidate_strength(int side, int element) const {
    return m_.strength(side, s_.spin[element - k_]);
  }

  // Draws the proposals, and computes the products of all candidates with N.
  PLAQ_BY_TEAM void prepare(arena& memory, const stream_id& stream, std::uint64_t first, int count) {
    k_ = alive_ = m_.order;
    changed_ = 0;
    rows_ = count;
    s_.allocate_proposals(memory, k_, count);
    team_.each(count, [&](int i) {
      const auto word = random_words(stream, first + i);
      s_.kind[i] = int(word[0] & 3);
      s_.time[i] = unit_interval(word[1]) * m_.rules.beta;
      s_.uniform[i] = unit_interval(word[2]);
      s_.choice[i] = word[3];
    });
    team_.each(k_, [&](int i) { s_.alive[i] = i; });
    const int c = c_ = team_.select(
        count, [&](int i) { return (s_.kind[i] & 1) != 0; },
        [&](int j, int i) {
          s_.tau[j] = s_.time[i];
          s_.site[j] = int(below(s_.choice[i], m_.rules.sites));
          s_.spin[j] = s_.kind[i] & 2 ? 1 : -1;
        });
    s_.allocate_products(memory, k_, c);
    team_.grid(k_, c, [&](int i, int j) {
      const int at = i + j * k_;
      double back;
      m_.g0.both_directions(r_.site[i], r_.tau[i], s_.site[j], s_.tau[j], s_.forward[at], back);
      for (int side = 0; side < 2; ++side) s_.backward[side][at] = back * m_.strength_of(side, i);
    });
    gpu::multiply<8, 1>(
        team_, 2, c, k_, [&](int side) { return gpu::product<double>{k_, s_.forward, k_, 1, r_.n[side], m_.capacity}; },
        [&](int side, int j, int i, double sum) { s_.inserted[side][i + j * k_] = sum; });
    gpu::multiply<2, 1>(
        team_, 2, c, c,
        [&](int side) { return gpu::product<double>{k_, s_.backward[side], k_, 1, s_.inserted[side], 1, k_}; },
        [&](int side, int i, int j, double sum) {
          const double g = i == j ? m_.g_equal : m_.g0(s_.site[i], s_.tau[i], s_.site[j], s_.tau[j]);
          s_.w[side][i + j * c_] = g + sum;
        });
  }

  // Returns an element of B = 1 + [N (1-g)] X, but those of a candidate's row and a vertex's column.
  PLAQ_BY_TEAM double entry(int side, int row, int column) const {
    if (!is_candidate(column)) return m_.n(side, row, column);
    const double x = candidate_strength(side, column);
    const int j = column - k_;
    if (!is_candidate(row)) return -x * s_.inserted[side][row + j * k_];
    const double same = row == column ? 1 : 0;
    return std::fma(x, same - s_.w[side][row - k_ + j * c_], same);
  }

  // Computes the column and row by which B grows, the product B^-1 column, and the ratios of determinants.
  PLAQ_BY_TEAM void append_ratios(int element, double (&pivot)[2]) {
    const int m = changed_;
    const bool candidate = is_candidate(element);
    team_.each(2 * m, [&](int at) {
      const int side = at >= m, i = at - side * m, other = s_.changed[i];
      if (candidate || !is_candidate(other)) s_.column[side][i] = entry(side, other, element);
      if (!candidate || is_candidate(other)) s_.row[side][i] = entry(side, element, other);
    });
    // A candidate's row of N and a vertex's column.
    team_.sums_where(
        2 * m, k_, [&](int at) { return is_candidate(s_.changed[at % m]) != candidate; },
        [&](int l, int at, double sum) {
          const int side = at >= m, other = s_.changed[at - side * m];
          const int inserted = (candidate ? element : other) - k_, vertex = candidate ? other : element;
          return std::fma(s_.backward[side][l + inserted * k_], m_.n(side, l, vertex), sum);
        },
        [&](int at, double sum) {
          const int side = at >= m;
          (candidate ? s_.row : s_.column)[side][at - side * m] = sum;
        });
    team_.each(2 * m, [&](int at) {
      const int side = at >= m, i = at - side * m;
      s_.product[side][i] = m_.row_times(m, s_.b_inverse[side] + i, rows_, s_.column[side]);
    });
    for (int side = 0; side < 2; ++side)
      pivot[side] = team_.value(
          [&] { return entry(side, element, element) - m_.row_times(m, s_.row[side], 1, s_.product[side]); });
  }

  // B gains the row and column of append_ratios.
  PLAQ_BY_TEAM void append(int element, const double (&pivot)[2]) {
    const int m = changed_;
    team_.each(2 * m, [&](int at) {
      const int side = at >= m, j = at - side * m;
      s_.column[side][j] = m_.row_times(m, s_.b_inverse[side] + j * rows_, 1, s_.row[side]) / pivot[side];
    });
    team_.grid(m + 1, 2 * (m + 1), [&](int i, int at) {
      const int side = at > m, j = at - side * (m + 1);
      double& b = s_.b_inverse[side][i + j * rows_];
      b = i < m && j < m ? std::fma(s_.product[side][i], s_.column[side][j], b)
          : i < m        ? -s_.product[side][i] / pivot[side]
          : j < m        ? -s_.column[side][j]
                         : 1 / pivot[side];
    });
    team_.once([&] {
      s_.changed[m] = element;
      if (is_candidate(element)) s_.row_of[element - k_] = m;
    });
    ++changed_;
  }

  // B loses row and column q, to which the last ones move.
  PLAQ_BY_TEAM void remove_row(int q, const double (&pivot)[2]) {
    const int m = changed_, last = m - 1;
    team_.each(2 * m, [&](int at) {
      const int side = at >= m, i = at - side * m;
      s_.product[side][i] = s_.b_inverse[side][i + q * rows_] / pivot[side];
      s_.row[side][i] = s_.b_inverse[side][q + i * rows_];
    });
    team_.grid(last, 2 * last, [&](int i, int at) {
      const int side = at >= last, j = at - side * last;
      const int from_i = i == q ? last : i, from_j = j == q ? last : j;
      s_.b_inverse[side][i + j * rows_] =
          std::fma(-s_.product[side][from_i], s_.row[side][from_j], s_.b_inverse[side][from_i + from_j * rows_]);
    });
    team_.once([&] {
      const int moved = s_.changed[q] = s_.changed[last];
      if (is_candidate(moved)) s_.row_of[moved - k_] = q;
    });
    --changed_;
  }

  PLAQ_BY_TEAM bool insert(int element, double u) {
    double pivot[2];
    append_ratios(element, pivot);
    const double ratio = m_.rules.K / (alive_ + 1) * pivot[0] * pivot[1];
    if (!(u < std::abs(ratio))) return false;
    append(element, pivot);
    team_.once([&] { s_.alive[alive_] = element; });
    ++alive_;
    if (ratio < 0) m_.sign = -m_.sign;
    return true;
  }

  // A vertex of this block leaves B, an older one enters it.
  PLAQ_BY_TEAM bool remove(int position, double u) {
    const int element = team_.value([&] { return s_.alive[position]; }), last = alive_ - 1;
    const bool candidate = is_candidate(element);
    const int q = candidate ? team_.value([&] { return s_.row_of[element - k_]; }) : 0;
    double pivot[2];
    if (candidate)
      for (int side = 0; side < 2; ++side) pivot[side] = team_.value([&] { return s_.b_inverse[side][q + q * rows_]; });
    else
      append_ratios(element, pivot);
    const double ratio = alive_ / m_.rules.K * pivot[0] * pivot[1];
    if (!(u < std::abs(ratio))) return false;
    candidate ? remove_row(q, pivot) : append(element, pivot);
    team_.once([&] { s_.alive[position] = s_.alive[last]; });
    --alive_;
    if (ratio < 0) m_.sign = -m_.sign;
    return true;
  }

  // N' = N - [N (1-g)]_{:S} X_S B^-1 N_{S:} on the old vertices and the accepted candidates, which join at the end.
  // Then the last vertex moves to the position of every removed one, the highest position first.
  PLAQ_BY_TEAM void finish(arena& memory) {
    const int k = k_, m = changed_;
    s_.allocate_change(memory, k + m, m);
    team_.each(m, [&](int b) { s_.joined[b] = -1; });
    const int c = team_.select(
        m, [&](int b) { return is_candidate(s_.changed[b]); },
        [&](int a, int b) { s_.row_of[a] = b, s_.joined[b] = a; });
    const int size = k + c, after = size - (m - c);
    team_.each(size, [&](int i) { s_.from[i] = i; });
    team_.each(m, [&](int b) {
      if (!is_candidate(s_.changed[b])) s_.from[s_.changed[b]] = -1;
    });
    const int gaps = team_.select(k, [&](int i) { return s_.from[i] < 0; }, [&](int at, int i) { s_.gaps[at] = i; });
    team_.once([&] {
      int count = size;
      for (int at = gaps - 1; at >= 0; --at) s_.from[s_.gaps[at]] = s_.from[--count];
    });
    extend(size, c);
    team_.grid(after, 2 * m, [&](int i, int at) {
      const int side = at >= m, b = at - side * m, element = s_.changed[b], a = s_.joined[b], from = s_.from[i];
      double left;
      if (a < 0)
        left = m_.n(side, from, element) - (from == element ? 1 : 0);
      else if (from < k)
        left = entry(side, from, element);
      else
        left = entry(side, s_.changed[s_.row_of[from - k]], element) - (from == k + a ? 1 : 0);
      s_.left[side][i + b * after] = left;
      s_.right[side][b + i * m] = m_.n(side, a < 0 ? element : k + a, from);
    });
    gpu::multiply<4, 1>(
        team_, 2, m, after,
        [&](int side) { return gpu::product<double>{m, s_.b_inverse[side], 1, rows_, s_.right[side], 1, m}; },
        [&](int side, int b, int j, double sum) { s_.solved[side][b + j * m] = sum; });
    // What moves into a gap comes from beyond the new end: no element is read after it was written.
    gpu::multiply<8, 1>(
        team_, 2, after, after,
        [&](int side) { return gpu::product<double>{m, s_.solved[side], m, 1, s_.left[side], after}; },
        [&](int side, int j, int i, double sum) { m_.n(side, i, j) = m_.n(side, s_.from[i], s_.from[j]) - sum; });
    team_.each(after, [&](int i) {
      const int from = s_.from[i];
      if (from == i) return;
      r_.site[i] = r_.site[from];
      r_.spin[i] = r_.spin[from];
      r_.tau[i] = r_.tau[from];
    });
    m_.order = after;
  }

  // N gains the rows (x g)^T N of c accepted candidates, and columns of the unit matrix.
  PLAQ_BY_TEAM void extend(int size, int c) {
    const int k = k_;
    team_.each(c, [&](int a) {
      const int j = s_.changed[s_.row_of[a]] - k;
      r_.site[k + a] = s_.site[j];
      r_.spin[k + a] = s_.spin[j];
      r_.tau[k + a] = s_.tau[j];
    });
    team_.grid(k, 2 * c, [&](int l, int at) {
      const int side = at >= c, a = at - side * c, j = s_.changed[s_.row_of[a]] - k;
      s_.right[side][l + a * k] = s_.backward[side][l + j * k];
    });
    gpu::multiply<8, 1>(
        team_, 2, c, k,
        [&](int side) { return gpu::product<double>{k, s_.right[side], k, 1, r_.n[side], 1, m_.capacity}; },
        [&](int side, int a, int j, double sum) { m_.n(side, k + a, j) = sum; });
    team_.grid(size, 2 * c, [&](int i, int at) {
      const int side = at >= c, j = k + at - side * c;
      m_.n(side, i, j) = i == j ? 1 : 0;
    });
  }

  matrices<Team>& m_;
  vertex_arrays& r_;
  Team& team_;
  block_space s_{};
  int k_ = 0, c_ = 0, rows_ = 0;  // vertices before the block; candidates; stride of B^-1
  int alive_ = 0, changed_ = 0;   // present vertices; rows of B
};

}  // namespace plaq::dca::device
