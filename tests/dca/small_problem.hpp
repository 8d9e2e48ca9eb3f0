// Clusters, baths and configurations that the tests of plaq::dca share.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <vector>

#include "plaq/dca/measure/two_frequency.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/dca/solver.hpp"
#include "plaq/dca/walk/g0_table.hpp"
#include "plaq/dca/walk/sample.hpp"

namespace plaq::dca {

/// a x b sites with periodic boundaries: site x + a y, momentum 2 pi (kx/a, ky/b) numbered likewise.
struct torus {
  int a, b;

  int size() const { return a * b; }
  template <class F>
  std::vector<int> table(F f) const {
    std::vector<int> out;
    for (int i = 0; i < size(); ++i)
      for (int j = 0; j < size(); ++j) out.push_back((f(i % a, j % a) + a) % a + a * ((f(i / a, j / a) + b) % b));
    return out;
  }
  std::vector<int> difference() const {
    return table([](int x, int y) { return x - y; });
  }
  momentum_tables momenta() const {
    momentum_tables out{size(), {}, table([](int x, int y) { return x + y; }), {}};
    for (int k = 0; k < size(); ++k) {
      out.minus.push_back((a - k % a) % a + a * ((b - k / a) % b));
      for (int r = 0; r < size(); ++r)
        out.fourier.push_back(std::polar(1., -2 * M_PI * (double(k % a) * (r % a) / a + double(k / a) * (r / a) / b)));
    }
    return out;
  }
};

/// A bath of two levels for every momentum: 1/G0 = iw - xi_K - V^2/(iw - e_K) with xi = eps + shift. G0 is a sum of
/// two poles, known exactly in time and in frequency.
class two_level_bath {
 public:
  two_level_bath(torus cluster, double beta, double shift, double V)
      : cluster_(cluster), momenta_(cluster.momenta()), beta_(beta) {
    for (int k = 0; k < cluster.size(); ++k) {
      // The hops +1 and -1 fold onto each other where there are two sites, and are none where there is one.
      double xi = shift;
      if (cluster.a > 1) xi -= 2 * std::cos(2 * M_PI * (k % cluster.a) / cluster.a);
      if (cluster.b > 1) xi -= 2 * std::cos(2 * M_PI * (k / cluster.a) / cluster.b);
      const double level = 0.3 - 0.4 * xi, middle = (xi + level) / 2, half = std::hypot((xi - level) / 2, V);
      const double share = 0.5 * (1 + (xi - level) / 2 / half);
      energy_.push_back({middle + half, middle - half});
      share_.push_back({share, 1 - share});
    }
  }

  std::complex<double> at_frequency(int k, int n) const {
    const std::complex<double> iw(0, (2 * n + 1) * M_PI / beta_);
    return share_[k][0] / (iw - energy_[k][0]) + share_[k][1] / (iw - energy_[k][1]);
  }
  std::vector<std::complex<double>> at_frequencies(int count) const {
    std::vector<std::complex<double>> out;
    for (int k = 0; k < cluster_.size(); ++k)
      for (int n = 0; n < count; ++n) out.push_back(at_frequency(k, n));
    return out;
  }

  /// g_R(tau) = -G0(R, tau) (derivative = 0) or its derivative (1), 0 <= tau <= beta.
  double at_time(int R, double tau, int derivative = 0) const {
    double sum = 0;
    for (int k = 0; k < cluster_.size(); ++k) {
      const double phase = momenta_.fourier[k * cluster_.size() + R].real();  // even in R
      for (int l = 0; l < 2; ++l) {
        const double e = energy_[k][l];
        // e^{-e tau} / (1 + e^{-beta e}), without overflow
        const double g = e > 0 ? std::exp(-e * tau) / (1 + std::exp(-beta_ * e))
                               : std::exp(e * (beta_ - tau)) / (1 + std::exp(beta_ * e));
        sum += phase * share_[k][l] * g * (derivative ? -e : 1);
      }
    }
    return sum / cluster_.size();
  }

  /// Cubics.
  std::shared_ptr<const g0_table> table(int segments = 2048) const {
    std::vector<double> c;
    const double h = beta_ / segments;
    for (int R = 0; R < cluster_.size(); ++R) {
      double f0 = at_time(R, 0), d0 = h * at_time(R, 0, 1);
      for (int i = 0; i < segments; ++i) {
        const double f1 = at_time(R, h * (i + 1)), d1 = h * at_time(R, h * (i + 1), 1);
        c.insert(c.end(), {f0, d0, 3 * (f1 - f0) - 2 * d0 - d1, 2 * (f0 - f1) + d0 + d1});
        c.resize(c.size() + g0_table::terms - 4);
        f0 = f1, d0 = d1;
      }
    }
    return std::make_shared<g0_table>(beta_, cluster_.size(), segments, std::move(c), cluster_.difference());
  }

 private:
  torus cluster_;
  momentum_tables momenta_;
  double beta_;
  std::vector<std::array<double, 2>> energy_, share_;
};

/// A sample of any M, not of a walk; `counts[x]` vertices at site x.
inline sample random_sample(const std::vector<int>& counts, double beta, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  sample s;
  s.index = seed;
  s.first = {0};
  for (int count : counts) {
    s.first.push_back(s.first.back() + count);
    for (int i = 0; i < count; ++i) s.tau.push_back(beta * uniform(random));
  }
  const int k = s.order();
  for (auto& m : s.m) {
    m.reshape(k, k);
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < k; ++i) m(i, j) = float((i == j) - 0.3 * uniform(random));
  }
  return s;
}

/// 2 bins of 66 measurements in each chain.
inline std::shared_ptr<problem> some_problem(bool pairing, std::vector<channel_request> channels,
                                             torus cluster = {2, 2}) {
  const two_level_bath bath(cluster, 3, 0, 0.4);
  auto p = std::make_shared<problem>();
  p->model.parameters = {3, 4, cluster.size(), 1};
  p->model.g0 = bath.table();
  p->model.difference = cluster.difference();
  p->model.momenta = cluster.momenta();
  p->measured.odd_frequencies = {1, 3, 7};
  p->measured.window = 3;
  p->measured.pairing = pairing;
  for (int i = 0; i < cluster.size() * cluster.size(); ++i) p->measured.orbit.push_back(i % 5);
  p->measured.channels = std::move(channels);
  p->measured.two_particle_frequencies = p->measured.window + 1;
  p->measured.g0_frequency = bath.at_frequencies(p->measured.two_particle_frequencies);
  p->moves.proposals_per_sweep = 8;
  p->rules.warm_up_sweeps = 5;
  p->rules.measurements_per_bin = 66;  // more than are summed in single precision
  p->rules.bins = 2;
  p->measured.histogram_size = 50;
  p->rules.seed = 5;
  return p;
}

/// The chains with a number below `chains` for which here(number) says so.
inline std::vector<chain_state> fresh_chains(int chains, auto&& here) {
  std::vector<chain_state> out;
  for (int c = 0; c < chains; ++c)
    if (here(c)) out.emplace_back().number = std::uint32_t(c);
  return out;
}

/// The chains after they ran, by number; with `shares`, as all ranks run them together.
inline std::vector<chain_state> run_all(std::shared_ptr<const problem> p, std::vector<chain_state> chains,
                                        const run_options& options, control& c, distributed_g4* shares = nullptr) {
  chain_queue queue;
  for (chain_state& s : chains) queue.add(std::move(s));
  queue.close();
  shares ? run_chains_distributed(*p, queue, options, c, *shares) : run_chains(*p, queue, options, c);
  auto out = queue.take_complete();
  for (chain_state& s : queue.take(chains.size())) out.push_back(std::move(s));
  std::ranges::sort(out, {}, &chain_state::number);
  return out;
}

}  // namespace plaq::dca
