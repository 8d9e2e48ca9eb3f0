#include "plaq/dca/two_particle.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::dca {

channel channel_named(std::string_view name) {
  if (name == "pp") return channel::pp;
  if (name == "magnetic") return channel::magnetic;
  if (name == "charge") return channel::charge;
  if (name == "transverse") return channel::transverse;
  throw input_error("two-particle channel '" + std::string(name) +
                    "' is unknown; allowed: pp, magnetic, charge, transverse");
}

namespace {
// Sums are kept in single precision while they are small and moved to double by every flush.
void move_to(std::span<double> out, std::vector<float>& sum) {
  check(out.size() == sum.size(), "two_particle: flush into an array of another size");
  for (std::size_t i = 0; i < sum.size(); ++i) out[i] += sum[i];
  std::fill(sum.begin(), sum.end(), 0.f);
}
}  // namespace

pairing::pairing(const two_frequency& functions, std::vector<int> orbit, int window, portion mine)
    : sites_(functions.sites()),
      frequencies_(functions.frequencies()),
      window_(window),
      orbit_(std::move(orbit)) {
  check(orbit_.size() == std::size_t(sites_) * sites_, "pairing: orbits must be sites x sites");
  check(window_ > 0 && window_ <= frequencies_, "pairing: the window exceeds the frequencies measured");
  const int blocks = 1 + *std::max_element(orbit_.begin(), orbit_.end());
  std::vector<int> members(blocks);
  for (int block : orbit_) {
    check(block >= 0, "pairing: negative orbit");
    ++members[block];
  }
  for (int block : orbit_) weight_.push_back(1.f / float(members[block]));
  const std::size_t rows = std::size_t(window_) * blocks;
  first_ = mine.begin(rows);
  last_ = mine.end(rows);
  sum_.resize(2 * window_ * (last_ - first_));
}

void pairing::accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down) {
  const std::size_t block = std::size_t(2) * frequencies_ * frequencies_;
  for (int pair = 0; pair < sites_ * sites_; ++pair) {
    const float factor = float(weight) * weight_[pair];
    for (int a = 0; a < window_; ++a) {
      const std::size_t at = std::size_t(orbit_[pair]) * window_ + a;
      if (at < first_ || at >= last_) continue;
      const std::size_t from = block * pair + std::size_t(a) * 2 * frequencies_ + (frequencies_ - window_);
      const float *ur = &up.re[from], *ui = &up.im[from], *dr = &down.re[from], *di = &down.im[from];
      float* row = &sum_[(at - first_) * 2 * window_];
      for (int b = 0; b < 2 * window_; ++b) row[b] += factor * (ur[b] * dr[b] + ui[b] * di[b]);
    }
  }
}

void pairing::flush(std::span<double> out) { move_to(out, sum_); }

vertex_channel::vertex_channel(const two_frequency& functions, channel kind, int transfer, int bosonic, int window,
                               portion mine)
    : kind_(kind),
      momenta_(functions.momenta()),
      frequencies_(functions.frequencies()),
      transfer_(transfer),
      bosonic_(bosonic),
      window_(window) {
  check(transfer >= 0 && transfer < momenta_.size, "vertex_channel: transfer is not a cluster momentum");
  check(frequencies_needed(window, bosonic) <= frequencies_, "vertex_channel: too few frequencies measured");
  const std::size_t rows = std::size_t(2) * window * momenta_.size * momenta_.size;
  first_ = mine.begin(rows);
  last_ = mine.end(rows);
  sum_.resize(4 * window * (last_ - first_));
}

std::complex<float> vertex_channel::g(const two_frequency::view& p, int k1, int n1, int k2, int n2) const {
  const bool mirror = n1 < 0;
  if (mirror) {
    k1 = momenta_.minus[k1], k2 = momenta_.minus[k2];
    n1 = -1 - n1, n2 = -1 - n2;
  }
  const std::size_t i = std::size_t(2) * frequencies_ * frequencies_ * (std::size_t(k1) * momenta_.size + k2) +
                        std::size_t(n1) * 2 * frequencies_ + (n2 + frequencies_);
  return {p.re[i], mirror ? -p.im[i] : p.im[i]};
}

void vertex_channel::accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down) {
  const int sites = momenta_.size, m = bosonic_;
  const float half = float(0.5 * weight);
  float* out = sum_.data();
  // The direct parts of the magnetic and charge channels depend on one momentum only.
  std::vector<std::complex<float>> here, there;
  const bool direct = kind_ == channel::magnetic || kind_ == channel::charge;
  const float relative = kind_ == channel::magnetic ? -1.f : 1.f;
  if (direct)
    for (int k = 0; k < sites; ++k)
      for (int n = -window_; n < window_; ++n) {
        const int kq = momenta_.plus(k, transfer_);
        here.push_back(g(up, kq, n + m, k, n) + relative * g(down, kq, n + m, k, n));
        there.push_back(g(up, k, n, kq, n + m) + relative * g(down, k, n, kq, n + m));
      }
  for (int k1 = 0; k1 < sites; ++k1)
    for (int k2 = 0; k2 < sites; ++k2) {
      const int k1_plus = momenta_.plus(k1, transfer_), k2_plus = momenta_.plus(k2, transfer_);
      const int k1_minus = momenta_.plus(momenta_.minus[k1], transfer_);
      const int k2_minus = momenta_.plus(momenta_.minus[k2], transfer_);
      for (int a = -window_; a < window_; ++a) {
        const std::size_t at = (std::size_t(k1) * sites + k2) * 2 * window_ + (a + window_);
        if (at < first_ || at >= last_) continue;
        for (int b = -window_; b < window_; ++b, out += 2) {
          std::complex<float> value;
          if (kind_ == channel::pp) {
            value = g(up, k1, a, k2, b) * g(down, k1_minus, m - 1 - a, k2_minus, m - 1 - b) +
                    g(down, k1, a, k2, b) * g(up, k1_minus, m - 1 - a, k2_minus, m - 1 - b);
          } else if (kind_ == channel::transverse) {
            value = -g(up, k1, a, k2, b) * g(down, k2_plus, b + m, k1_plus, a + m) -
                    g(down, k1, a, k2, b) * g(up, k2_plus, b + m, k1_plus, a + m);
          } else {
            value = here[k1 * 2 * window_ + a + window_] * there[k2 * 2 * window_ + b + window_] -
                    g(up, k2, b, k1, a) * g(up, k1_plus, a + m, k2_plus, b + m) -
                    g(down, k2, b, k1, a) * g(down, k1_plus, a + m, k2_plus, b + m);
          }
          out[0] += half * value.real();
          out[1] += half * value.imag();
        }
      }
    }
}

void vertex_channel::flush(std::span<double> out) { move_to(out, sum_); }

}  // namespace plaq::dca
