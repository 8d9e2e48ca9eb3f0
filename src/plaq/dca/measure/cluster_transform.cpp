#include "plaq/dca/measure/cluster_transform.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::dca {

namespace {

constexpr std::size_t strip = 512;  // functions at a time: the strips of 16 sites stay in the L1 and L2 caches
constexpr double rounding = 1e-9;

using phases = std::vector<std::complex<double>>;

bool near(std::complex<double> a, std::complex<double> b) { return std::abs(a - b) < rounding; }

}  // namespace

// Divides the group; strips of a part are begin, begin + 1, ...
class cluster_transform::planner {
 public:
  planner(cluster_transform& transform, const phases& fourier) : t_(transform), fourier_(fourier) {}

  /// Returns the characters of the part in the order of its strips.
  std::vector<int> divide(const part& whole, int begin) {
    const int kappa = halving(whole);
    if (kappa < 0) return sum(whole, begin);
    part even, odd;
    int g = -1;
    for (std::size_t i = 0; i < whole.element.size(); ++i) {
      const int r = whole.element[i];
      if (near(at(kappa, r), 1)) {
        even.input.push_back(whole.input[i]);
        even.element.push_back(r);
      } else if (g < 0) {
        g = r;
      }
    }
    check(2 * even.element.size() == whole.element.size(), "cluster_transform: not the table of a group");
    odd.element = even.element;
    for (int h : even.element) odd.input.push_back(whole.input[position(whole, g, h)]);
    std::vector<int> partner(std::size_t(t_.size_), -1);
    for (int c : whole.character) {
      const auto same = [&](int d) {
        return std::ranges::all_of(even.element, [&](int h) { return near(at(c, h), at(d, h)); });
      };
      const auto found = std::ranges::find_if(even.character, same);
      if (found == even.character.end())
        even.character.push_back(c);
      else
        partner[*found] = c;
    }
    check(even.character.size() == even.element.size() &&
              std::ranges::all_of(even.character, [&](int c) { return partner[c] >= 0; }),
          "cluster_transform: not the table of a group");
    odd.character = even.character;
    const int half = int(even.element.size());
    const std::vector<int> order = divide(even, begin);
    divide(odd, begin + half);
    std::vector<int> out = order;
    for (int i = 0; i < half; ++i) {
      t_.butterflies_.push_back({begin + i, begin + half + i, std::complex<float>(at(order[i], g))});
      out.push_back(partner[order[i]]);
    }
    return out;
  }

 private:
  std::complex<double> at(int k, int r) const { return fourier_[std::size_t(k) * t_.size_ + r]; }

  /// Returns a character that is 1 and -1 on the part, or -1.
  int halving(const part& p) const {
    for (int k : p.character) {
      const auto is = [&](double value) { return [this, k, value](int r) { return near(at(k, r), value); }; };
      if (std::ranges::any_of(p.element, is(-1)) &&
          std::ranges::all_of(p.element, [&](int r) { return is(1)(r) || is(-1)(r); }))
        return k;
    }
    return -1;
  }

  /// Returns the position of the element g + h.
  std::size_t position(const part& p, int g, int h) const {
    for (std::size_t i = 0; i < p.element.size(); ++i)
      if (std::ranges::all_of(p.character, [&](int k) { return near(at(k, p.element[i]), at(k, g) * at(k, h)); }))
        return i;
    throw runtime_failure("cluster_transform: not the table of a group");
  }

  std::vector<int> sum(const part& p, int begin) {
    const int n = int(p.element.size());
    for (int i = 0; i < n; ++i) t_.input_[begin + i] = p.input[i];
    if (n == 1) return p.character;
    odd_sum odd{begin, {}};
    for (int k : p.character)
      for (int r : p.element) odd.table.emplace_back(at(k, r));
    t_.odd_.push_back(std::move(odd));
    return p.character;
  }

  cluster_transform& t_;
  const phases& fourier_;
};

cluster_transform::cluster_transform(const phases& fourier) : size_(int(std::lround(std::sqrt(fourier.size())))) {
  check(size_ > 0 && std::size_t(size_) * size_ == fourier.size(), "cluster_transform: the table must be square");
  input_.resize(size_);
  part whole;
  whole.input.resize(size_);
  std::iota(whole.input.begin(), whole.input.end(), 0);
  whole.element = whole.character = whole.input;
  output_ = planner(*this, fourier).divide(whole, 0);
}

void cluster_transform::apply(bool conjugate, std::size_t inner, float* re, float* im) {
  for (std::vector<float>* work : {&re_, &im_, &sum_re_, &sum_im_}) work->resize(size_ * strip);
  for (std::size_t first = 0; first < inner; first += strip) {
    const std::size_t width = std::min(strip, inner - first);
    for (int i = 0; i < size_; ++i) {
      std::copy_n(re + input_[i] * inner + first, width, &re_[i * strip]);
      std::copy_n(im + input_[i] * inner + first, width, &im_[i * strip]);
    }
    for (const odd_sum& odd : odd_) sum_odd(odd, conjugate, width);
    for (const butterfly& b : butterflies_) combine(b, conjugate, width);
    for (int i = 0; i < size_; ++i) {
      std::copy_n(&re_[i * strip], width, re + output_[i] * inner + first);
      std::copy_n(&im_[i * strip], width, im + output_[i] * inner + first);
    }
  }
}

void cluster_transform::sum_odd(const odd_sum& odd, bool conjugate, std::size_t width) {
  const int n = int(std::lround(std::sqrt(odd.table.size())));
  for (int k = 0; k < n; ++k) {
    float* __restrict to_re = &sum_re_[k * strip];
    float* __restrict to_im = &sum_im_[k * strip];
    std::fill_n(to_re, width, 0.f);
    std::fill_n(to_im, width, 0.f);
    for (int r = 0; r < n; ++r) {
      const std::complex<float> f = odd.table[std::size_t(k) * n + r];
      const float c = f.real(), s = conjugate ? -f.imag() : f.imag();
      const float* __restrict x = &re_[(odd.begin + r) * strip];
      const float* __restrict y = &im_[(odd.begin + r) * strip];
      for (std::size_t i = 0; i < width; ++i) {
        to_re[i] += c * x[i] - s * y[i];
        to_im[i] += c * y[i] + s * x[i];
      }
    }
  }
  for (int k = 0; k < n; ++k) {
    std::copy_n(&sum_re_[k * strip], width, &re_[(odd.begin + k) * strip]);
    std::copy_n(&sum_im_[k * strip], width, &im_[(odd.begin + k) * strip]);
  }
}

void cluster_transform::combine(const butterfly& b, bool conjugate, std::size_t width) {
  const float c = b.phase.real(), s = conjugate ? -b.phase.imag() : b.phase.imag();
  float* __restrict e_re = &re_[b.first * strip];
  float* __restrict e_im = &im_[b.first * strip];
  float* __restrict d_re = &re_[b.second * strip];
  float* __restrict d_im = &im_[b.second * strip];
  for (std::size_t i = 0; i < width; ++i) {
    const float x = c * d_re[i] - s * d_im[i], y = c * d_im[i] + s * d_re[i];
    d_re[i] = e_re[i] - x;
    d_im[i] = e_im[i] - y;
    e_re[i] += x;
    e_im[i] += y;
  }
}

}  // namespace plaq::dca
