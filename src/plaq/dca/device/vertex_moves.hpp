// Vertex moves of dca::walker on a device, for many small chains at once: a team walks one chain through whole sweeps.
#pragma once
#include "plaq/dca/device/matrices.hpp"

namespace plaq::dca::device {

/// Insertions and removals in blocks, with the numbers, decisions and order of vertices of dca::walker. N changes with
/// every accepted proposal, by a rank-one update: a matrix of a hundred rows fits the shared memory, so that delayed
/// updates would save no time.
template <class Team>
class vertex_moves {
 public:
  PLAQ_BY_TEAM explicit vertex_moves(matrices<Team>& m) : m_(m), r_(m.r) {}

  /// Makes the proposals first, ..., first + count - 1; returns how many were accepted.
  PLAQ_BY_TEAM int block(const stream_id& stream, std::uint64_t first, int count) {
    before_ = m_.order;
    inserted_ = changed_ = 0;
    int accepted = 0;
    m_.team.each(before_, [&](int i) {
      r_.number[r_.slot_of[i]] = i;
      r_.alive[i] = i;
    });
    for (int i = 0; i < count; ++i) {
      const auto word = random_words(stream, first + i);
      const double u = unit_interval(word[2]);
      if (word[0] & 1)
        accepted += insert(int(below(word[3], m_.rules.sites)), word[0] & 2 ? 1 : -1,
                           unit_interval(word[1]) * m_.rules.beta, u);
      else if (m_.order > 0)
        accepted += remove(int(below(word[3], m_.order)), u);
    }
    if (changed_ > 0) renumber();
    return accepted;
  }

  /// Proposes to flip all spins of one site, right after a rebuild, as walker::flip_site; false if that is not finite.
  PLAQ_BY_TEAM bool flip_site(const stream_id& stream, std::uint64_t number) {
    const auto word = random_words(stream, number);
    const int site = int(below(word[3], m_.rules.sites));
    Team& team = m_.team;
    team.once([&] {
      int count = 0;
      for (int i = 0; i < m_.order; ++i)
        if (r_.site[r_.slot_of[i]] == site) r_.indices[count++] = r_.slot_of[i];
      r_.list[0] = count;
    });
    const int count = team.value([&] { return r_.list[0]; });
    double ratio[2];
    int exponent = 0;
    for (int side = 0; side < 2; ++side) {
      team.grid(count, count, [&](int i, int j) {
        const double change = flip_factor(m_.strength_of(side, r_.indices[j])) - 1;
        m_.work(0, i, j) = std::fma(-m_.n(side, r_.indices[i], r_.indices[j]), change, i == j ? 1 + change : 0.);
      });
      const gpu::scaled det = gpu::invert(team, count, r_.work[0], m_.capacity + 1, r_.inverse_space());
      ratio[side] = det.mantissa;
      exponent += det.exponent;
    }
    if (!(unit_interval(word[2]) < std::abs(std::ldexp(ratio[0] * ratio[1], exponent)))) return true;
    team.each(count, [&](int i) { r_.spin[r_.indices[i]] *= -1; });
    return m_.recompute();
  }

 private:
  // N^-1 gains a column u = -g x, a row w = -g x_j and a corner d: with S = d - w N u the ratio is S, and
  // N' = [[N + N u w N / S, -N u / S], [-w N / S, 1 / S]].
  PLAQ_BY_TEAM bool insert(int site, int spin, double tau, double u) {
    Team& team = m_.team;
    const int k = m_.order;
    double *const *const product = r_.vector, *const *const row = r_.vector + 2;
    double x[2], pivot[2], ratio = m_.rules.K / (k + 1);
    m_.tabulate(site, tau);
    team.each(2 * k, [&](int at) {
      const int side = at >= k, i = at - side * k;
      product[side][i] = m_.row_times(k, r_.n[side] + i, m_.capacity, r_.forward);
    });
    for (int side = 0; side < 2; ++side) {
      x[side] = m_.strength(side, spin);
      const double back = team.sum(k, [&](int i, double sum) {
        return std::fma(r_.backward[i] * m_.strength_of(side, i), product[side][i], sum);
      });
      pivot[side] = std::fma(x[side], 1 - m_.g_equal - back, 1.);
      ratio *= pivot[side];
    }
    if (!(u < std::abs(ratio))) return false;

    team.sums(
        2 * k, k,
        [&](int i, int at, double sum) {
          const int side = at >= k, j = at - side * k;
          return std::fma(r_.backward[i] * m_.strength_of(side, i), m_.n(side, i, j), sum);
        },
        [&](int at, double sum) {
          const int side = at >= k, j = at - side * k;
          row[side][j] = sum / pivot[side];
        });
    team.grid(k + 1, 2 * (k + 1), [&](int i, int at) {
      const int side = at > k, j = at - side * (k + 1);
      const double left = i < k ? x[side] * product[side][i] : 1.;
      m_.n(side, i, j) = j == k  ? left / pivot[side]
                         : i < k ? std::fma(left, row[side][j], m_.n(side, i, j))
                                 : row[side][j];
    });
    const int number = before_ + inserted_, changed = changed_;
    team.once([&] {
      r_.site[k] = site;
      r_.spin[k] = spin;
      r_.tau[k] = tau;
      r_.number[k] = number;
      r_.slot_of[number] = k;
      r_.alive[k] = number;
      r_.changed[changed] = number;
    });
    ++inserted_;
    ++changed_;
    ++m_.order;
    if (ratio < 0) m_.sign = -m_.sign;
    return true;
  }

  // The ratio is N_pp, and N' = N - N_{:p} N_{p:} / N_pp without row and column p, to which the last ones move.
  PLAQ_BY_TEAM bool remove(int position, double u) {
    Team& team = m_.team;
    const int k = m_.order, last = k - 1;
    double *const *const column = r_.vector, *const *const row = r_.vector + 2;
    const int removed = team.value([&] { return r_.alive[position]; });
    const int p = team.value([&] { return r_.slot_of[removed]; });
    double pivot[2], ratio = k / m_.rules.K;
    for (int side = 0; side < 2; ++side) ratio *= pivot[side] = team.value([&] { return m_.n(side, p, p); });
    if (!(u < std::abs(ratio))) return false;

    team.each(2 * k, [&](int at) {
      const int side = at >= k, i = at - side * k;
      column[side][i] = m_.n(side, i, p);
      row[side][i] = m_.n(side, p, i) / pivot[side];
    });
    team.grid(last, 2 * last, [&](int i, int at) {
      const int side = at >= last, j = at - side * last;
      const int from_i = i == p ? last : i, from_j = j == p ? last : j;
      m_.n(side, i, j) = std::fma(-column[side][from_i], row[side][from_j], m_.n(side, from_i, from_j));
    });
    const bool was_inserted = removed >= before_;
    const int changed = changed_;
    team.once([&] {
      r_.slot_of[removed] = -1;
      if (p != last) {
        r_.site[p] = r_.site[last];
        r_.spin[p] = r_.spin[last];
        r_.tau[p] = r_.tau[last];
        r_.number[p] = r_.number[last];
        r_.slot_of[r_.number[p]] = p;
      }
      r_.alive[position] = r_.alive[last];
      if (was_inserted) {  // inserted in this block
        int q = 0;
        while (r_.changed[q] != removed) ++q;
        r_.changed[q] = r_.changed[changed - 1];
      } else {
        r_.changed[changed] = removed;
      }
    });
    changed_ += was_inserted ? -1 : 1;
    --m_.order;
    if (ratio < 0) m_.sign = -m_.sign;
    return true;
  }

  // At the end of a block new vertices join at the end, in the order of `changed`. Then the last vertex moves to the
  // position of every removed old one, the highest position first.
  PLAQ_BY_TEAM void renumber() {
    const int before = before_, changed = changed_;
    m_.team.once([&] {
      int count = before;
      for (int i = 0; i < before; ++i) r_.list[i] = i;
      for (int c = 0; c < changed; ++c)
        if (r_.changed[c] >= before) r_.list[count++] = r_.changed[c];
      for (int i = before - 1; i >= 0; --i)
        if (r_.slot_of[i] < 0) r_.list[i] = r_.list[--count];
    });
    m_.team.each(m_.order, [&](int i) { r_.list[i] = r_.slot_of[r_.list[i]]; });
    m_.team.each(m_.order, [&](int i) { r_.slot_of[i] = r_.list[i]; });
  }

  matrices<Team>& m_;
  workspace& r_;
  int before_ = 0, inserted_ = 0, changed_ = 0;
};

}  // namespace plaq::dca::device
