// Sums of two-particle functions on a device, as dca::pairing and dca::vertex_channel, which define the products.
#pragma once
#include "plaq/dca/device/two_frequency.hpp"

namespace plaq::dca::device {

/// Measurement of all channels. Every element of a sum belongs to one thread, and neighbouring elements are read
/// together.
template <class Team>
class two_particle {
 public:
  PLAQ_BY_TEAM explicit two_particle(const measured_sample<Team>& s)
      : s_(s),
        rules_(s.rules),
        sites_(s.rules.sizes.sites),
        window_(s.rules.sizes.window),
        up_(view(0)),
        down_(view(1)) {}

  PLAQ_BY_TEAM void measure(float* sums) const {
    const measurement_sizes& sizes = rules_.sizes;
    if (sizes.orbits > 0) pairing(sums);
    sums += sizes.pairing_size();
    for (int c = 0; c < sizes.channels; ++c, sums += 2 * sizes.channel_size()) {
      auto* const numbers = reinterpret_cast<number*>(sums);
      rules_.channels[c].relative == 0 ? opposite_spins(rules_.channels[c], numbers)
                                       : same_spins(rules_.channels[c], numbers);
    }
  }

 private:
  PLAQ_BY_TEAM green_view view(int side) const {
    return {s_.r.g[side], s_.r.across[side], sites_, rules_.sizes.pair_frequencies, rules_.minus};
  }
  PLAQ_BY_TEAM int plus(int K, int Q) const { return rules_.plus[K * sites_ + Q]; }

  /// Sets every element of a channel to f(K, K', n, n', sum).
  template <class F>
  PLAQ_BY_TEAM void elements(number* sums, F&& f) const {
    const int width = 2 * window_;
    s_.team.grid(width, sites_ * sites_ * width, [&](int b, int at) {
      const int pair = at / width, n = at - pair * width - window_, K = pair / sites_;
      number& sum = sums[std::size_t(at) * width + b];
      sum = f(K, pair - K * sites_, n, b - window_, sum);
    });
  }

  // pp at q = 0, nu = 0, in its real form; all pairs of an orbit go to one block.
  PLAQ_BY_TEAM void pairing(float* sums) const {
    const int width = 2 * window_, F = rules_.sizes.pair_frequencies;
    s_.team.grid(width, rules_.sizes.orbits * window_, [&](int b, int at) {
      const int orbit = at / window_, n = at - orbit * window_;
      const int first = rules_.orbit_begins[orbit], last = rules_.orbit_begins[orbit + 1];
      const float factor = float(s_.weight()) * (1.f / float(last - first));
      float& kept = sums[std::size_t(at) * width + b];
      float sum = kept;
      for (int i = first; i < last; ++i) {
        const std::size_t from = (std::size_t(rules_.orbit_pairs[i]) * F + n) * 2 * F + F - window_ + b;
        const number up = s_.r.g[0][from], down = s_.r.g[1][from];
        sum = std::fma(factor, std::fma(up.re, down.re, up.im * down.im), sum);
      }
      kept = sum;
    });
  }

  // G_up(k, k') G_down(q-k, q-k'), averaged over up <-> down.
  PLAQ_BY_TEAM void opposite_spins(const channel_rules& c, number* sums) const {
    const float half = float(0.5 * s_.weight());
    const int shift = c.bosonic - 1;
    elements(sums, [&](int K, int Q, int n, int m, number sum) {
      const int K_minus = plus(rules_.minus[K], c.transfer), Q_minus = plus(rules_.minus[Q], c.transfer);
      number product = add_product({}, up_(K, n, Q, m), down_(K_minus, shift - n, Q_minus, shift - m));
      product = add_product(product, down_(K, n, Q, m), up_(K_minus, shift - n, Q_minus, shift - m));
      return number{std::fma(half, product.re, sum.re), std::fma(half, product.im, sum.im)};
    });
  }

  // 1/2 sum_{s s'} (s s')^p G_s(k+q, k) G_s'(k', k'+q) - 1/2 sum_s G_s(k', k) G_s(k+q, k'+q).
  PLAQ_BY_TEAM void same_spins(const channel_rules& c, number* sums) const {
    const float half = float(0.5 * s_.weight()), relative = float(c.relative);
    const int width = 2 * window_, size = sites_ * width;
    number *const left = s_.r.direct, *const right = left + size;
    s_.team.each(size, [&](int at) {
      const int K = at / width, n = at - K * width - window_, there = plus(K, c.transfer), later = n + c.bosonic;
      const number u = up_(there, later, K, n), d = down_(there, later, K, n);
      left[at] = {std::fma(relative, d.re, u.re), std::fma(relative, d.im, u.im)};
      const number v = up_(K, n, there, later), e = down_(K, n, there, later);
      right[at] = {std::fma(relative, e.re, v.re), std::fma(relative, e.im, v.im)};
    });
    elements(sums, [&](int K, int Q, int n, int m, number sum) {
      const int K_plus = plus(K, c.transfer), Q_plus = plus(Q, c.transfer);
      number product = add_product({}, up_.by_columns(Q, m, K, n), up_(K_plus, n + c.bosonic, Q_plus, m + c.bosonic));
      product = add_product(product, down_.by_columns(Q, m, K, n), down_(K_plus, n + c.bosonic, Q_plus, m + c.bosonic));
      const number direct = add_product({}, left[K * width + n + window_], right[Q * width + m + window_]);
      return number{std::fma(half, direct.re - product.re, sum.re), std::fma(half, direct.im - product.im, sum.im)};
    });
  }

  const measured_sample<Team>& s_;
  const measurement_rules& rules_;
  int sites_, window_;
  green_view up_, down_;
};

}  // namespace plaq::dca::device
