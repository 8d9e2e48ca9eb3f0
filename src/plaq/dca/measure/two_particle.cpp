#include "plaq/dca/measure/two_particle.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/linalg/transpose.hpp"

namespace plaq::dca {

namespace {
// sum += scale (x y + u v), complex, for `n` numbers of x, y, u and v.
void add_products(std::size_t n, float scale, const std::array<complex_numbers, 4>& factors, float* __restrict sum_re,
                  float* __restrict sum_im) {
  const float *__restrict x_re = factors[0].re.data(), *__restrict x_im = factors[0].im.data(),
              *__restrict y_re = factors[1].re.data(), *__restrict y_im = factors[1].im.data(),
              *__restrict u_re = factors[2].re.data(), *__restrict u_im = factors[2].im.data(),
              *__restrict v_re = factors[3].re.data(), *__restrict v_im = factors[3].im.data();
  for (std::size_t i = 0; i < n; ++i) {
    sum_re[i] += scale * (x_re[i] * y_re[i] - x_im[i] * y_im[i] + u_re[i] * v_re[i] - u_im[i] * v_im[i]);
    sum_im[i] += scale * (x_re[i] * y_im[i] + x_im[i] * y_re[i] + u_re[i] * v_im[i] + u_im[i] * v_re[i]);
  }
}

// to = factor * from, read forwards (step = 1) or backwards (step = -1)
void copy(int n, float factor, const float* __restrict from, std::ptrdiff_t step, float* __restrict to) {
  if (step > 0)
    for (int i = 0; i < n; ++i) to[i] = factor * from[i];
  else
    for (int i = 0; i < n; ++i) to[i] = factor * from[-i];
}

// sum += a x
void add_multiple(std::size_t n, float a_re, float a_im, const float* __restrict x_re, const float* __restrict x_im,
                  float* __restrict sum_re, float* __restrict sum_im) {
  for (std::size_t i = 0; i < n; ++i) {
    sum_re[i] += a_re * x_re[i] - a_im * x_im[i];
    sum_im[i] += a_re * x_im[i] + a_im * x_re[i];
  }
}
}  // namespace

pairing::pairing(const two_frequency& functions, std::vector<int> orbit, int window, portion share)
    : frequencies_(functions.frequencies()), window_(window), orbit_(std::move(orbit)) {
  const std::size_t sites = std::size_t(functions.sites());
  check(orbit_.size() == sites * sites, "pairing: orbits must be sites x sites");
  check(window_ > 0 && window_ <= frequencies_, "pairing: the window exceeds the frequencies measured");
  const int blocks = 1 + *std::max_element(orbit_.begin(), orbit_.end());
  std::vector<int> members(blocks);
  for (int block : orbit_) {
    check(block >= 0, "pairing: negative orbit");
    ++members[block];
  }
  for (int block : orbit_) weight_.push_back(1.f / float(members[block]));
  const std::size_t rows = std::size_t(window_) * blocks;
  first_ = share.begin(rows);
  last_ = share.end(rows);
}

void pairing::add_needed(needed_rows& rows) const {
  for (std::size_t pair = 0; pair < orbit_.size(); ++pair)
    for (int a = 0; a < window_; ++a)
      if (const std::size_t at = std::size_t(orbit_[pair]) * window_ + a; at >= first_ && at < last_) rows.add(pair, a);
}

void pairing::accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down) {
  const std::size_t block = std::size_t(2) * frequencies_ * frequencies_;
  sum_.resize(size());
  for (std::size_t pair = 0; pair < orbit_.size(); ++pair) {
    const float factor = float(weight) * weight_[pair];
    for (int a = 0; a < window_; ++a) {
      const std::size_t at = std::size_t(orbit_[pair]) * window_ + a;
      if (at < first_ || at >= last_) continue;
      const std::ptrdiff_t column = std::ptrdiff_t(a) * 2 * frequencies_ + (frequencies_ - window_);
      const std::ptrdiff_t in_up = up.start(pair, block) + column, in_down = down.start(pair, block) + column;
      const float *ur = up.re + in_up, *ui = up.im + in_up, *dr = down.re + in_down, *di = down.im + in_down;
      float* row = &sum_[(at - first_) * 2 * window_];
      for (int b = 0; b < 2 * window_; ++b) row[b] += factor * (ur[b] * dr[b] + ui[b] * di[b]);
    }
  }
}

void pairing::flush(std::span<double> out) {
  check(out.size() == size(), "pairing: flush into an array of another size");
  for (std::size_t i = 0; i < sum_.size(); ++i) out[i] += sum_[i];
  std::ranges::fill(sum_, 0.f);
}

vertex_channel::vertex_channel(const two_frequency& functions, channel kind, int transfer, int bosonic, int window,
                               portion share)
    : kind_(kind),
      momenta_(functions.momenta()),
      frequencies_(functions.frequencies()),
      transfer_(transfer),
      bosonic_(bosonic),
      window_(window) {
  check(transfer >= 0 && transfer < momenta_.size, "vertex_channel: transfer is not a cluster momentum");
  check(frequencies_needed(window, bosonic) <= frequencies_, "vertex_channel: too few frequencies measured");
  const std::size_t rows = std::size_t(2) * window * momenta_.size * momenta_.size;
  first_ = share.begin(rows);
  last_ = share.end(rows);
}

vertex_channel::stored_row vertex_channel::locate(int k1, int n1, int k2) const {
  const bool mirrored = n1 < 0;
  if (mirrored) k1 = momenta_.minus[k1], k2 = momenta_.minus[k2], n1 = -1 - n1;
  return {std::size_t(k1) * momenta_.size + k2, n1, mirrored};
}

vertex_channel::row_view vertex_channel::row_of(const two_frequency::view& g, int k1, int n1, int k2) const {
  const auto [block, n, mirrored] = locate(k1, n1, k2);
  const std::ptrdiff_t zero = g.start(block, std::size_t(2) * frequencies_ * frequencies_) +
                              std::ptrdiff_t(n) * 2 * frequencies_ + frequencies_ - (mirrored ? 1 : 0);
  return {g.re + zero, g.im + zero, mirrored ? -1 : 1};
}

std::array<vertex_channel::factor, 2> vertex_channel::factors(int k1, int k2) const {
  const int k1_plus = momenta_.plus(k1, transfer_), k2_plus = momenta_.plus(k2, transfer_);
  const factor straight{k1, k2, 1, 0, false};
  if (kind_ == channel::pp) {
    const int k1_minus = momenta_.plus(momenta_.minus[k1], transfer_);
    const int k2_minus = momenta_.plus(momenta_.minus[k2], transfer_);
    return {{straight, {k1_minus, k2_minus, -1, bosonic_ - 1, false}}};
  }
  return {{{k2, k1, 1, 0, true}, {k1_plus, k2_plus, 1, bosonic_, false}}};
}

void vertex_channel::read(const two_frequency::view& g, const factor& f, int first, int last,
                          complex_numbers& out) const {
  const int width = 2 * window_;
  if (f.across) {
    // Row n' of what is read is column n' of what is wanted. Those with an index below 0 are mirrored.
    const int mirrored = std::clamp(-f.shift, -window_, window_);
    for (const auto [begin, end] : {std::array{-window_, mirrored}, std::array{mirrored, window_}}) {
      if (begin == end) continue;
      const row_view from = row_of(g, f.k1, begin + f.shift, f.k2);
      // Mirrored rows and columns go backwards: begin with the lowest column, which is the last row.
      const bool forward = from.step > 0;
      const std::ptrdiff_t column = from.step * ((forward ? first : last - 1) + f.shift);
      const std::ptrdiff_t down = from.step * 2 * frequencies_, below = from.step * width;
      const std::size_t to = std::size_t(forward ? 0 : last - 1 - first) * width + (begin + window_);
      linalg::transpose(end - begin, last - first, 1, from.re + column, down, &out.re[to], below);
      linalg::transpose(end - begin, last - first, float(from.step), from.im + column, down, &out.im[to], below);
    }
    return;
  }
  for (int a = first; a < last; ++a) {
    const row_view from = row_of(g, f.k1, f.step * a + f.shift, f.k2);
    const std::ptrdiff_t begin = from.step * (f.shift - f.step * window_);
    const std::size_t to = std::size_t(a - first) * width;
    copy(width, 1, from.re + begin, from.step * f.step, &out.re[to]);
    copy(width, float(from.step), from.im + begin, from.step * f.step, &out.im[to]);
  }
}

void vertex_channel::add_needed(needed_rows& rows) const {
  const auto add = [&](const factor& f, int n) {
    const stored_row p = locate(f.k1, f.step * n + f.shift, f.k2);
    rows.add(p.block, p.row);
  };
  for (row_block p = next_block(first_); p.rows > 0; p = next_block(p.at + p.rows))
    for (const factor& f : factors(p.k1, p.k2))
      if (f.across)
        for (int b = -window_; b < window_; ++b) add(f, b);
      else
        for (int a = p.first; a < p.first + int(p.rows); ++a) add(f, a);
}

std::size_t vertex_channel::direct_size() const {
  return kind_ != channel::pp ? std::size_t(8) * momenta_.size * window_ : 0;
}

void vertex_channel::measure_direct(const two_frequency::view& up, const two_frequency::view& down,
                                    std::span<float> out) const {
  check(out.size() == direct_size(), "vertex_channel: direct parts of another size");
  if (out.empty()) return;
  const int width = 2 * window_;
  const float relative = kind_ == channel::magnetic ? -1.f : 1.f;
  const auto add = [&](const two_frequency::view& g, float factor, int k1, int n1, int k2, int n2, std::size_t to) {
    const row_view from = row_of(g, k1, n1, k2);
    out[to] += factor * from.re[from.step * n2];
    out[out.size() / 2 + to] += factor * float(from.step) * from.im[from.step * n2];
  };
  std::ranges::fill(out, 0.f);
  const std::size_t there = out.size() / 4;
  for (int k = 0; k < momenta_.size; ++k)
    for (int n = -window_; n < window_; ++n) {
      const std::size_t at = std::size_t(k) * width + (n + window_);
      const int kq = momenta_.plus(k, transfer_), nq = n + bosonic_;
      add(up, 1, kq, nq, k, n, at);
      add(down, relative, kq, nq, k, n, at);
      add(up, 1, k, n, kq, nq, there + at);
      add(down, relative, k, n, kq, nq, there + at);
    }
}

vertex_channel::row_block vertex_channel::next_block(std::size_t at) const {
  const std::size_t width = std::size_t(2) * window_, sites = std::size_t(momenta_.size);
  const std::size_t pair = at / width, a = at % width;
  const std::size_t rows = std::min({width - a, last_ - at, most_rows});
  return {at, rows, int(pair / sites), int(pair % sites), int(a) - window_};
}

void vertex_channel::accumulate(double weight, const two_frequency::view& up, const two_frequency::view& down,
                                std::span<const float> direct) {
  check(direct.size() == direct_size(), "vertex_channel: direct parts of another size");
  const std::size_t width = std::size_t(2) * window_;
  const float half = float(0.5 * weight), scale = kind_ == channel::pp ? half : -half;
  const bool same_spin = !direct.empty();
  const auto& other_of_up = same_spin ? up : down;
  const auto& other_of_down = same_spin ? down : up;
  sum_.resize(size() / 2);
  for (complex_numbers& s : strips_) s.resize(most_rows * width);
  for (row_block p = next_block(first_); p.rows > 0; p = next_block(p.at + p.rows)) {
    const auto [one, other] = factors(p.k1, p.k2);
    const int last = p.first + int(p.rows);
    read(up, one, p.first, last, strips_[0]);
    read(other_of_up, other, p.first, last, strips_[1]);
    read(down, one, p.first, last, strips_[2]);
    read(other_of_down, other, p.first, last, strips_[3]);
    const std::size_t to = (p.at - first_) * width;
    add_products(p.rows * width, scale, strips_, &sum_.re[to], &sum_.im[to]);
    if (direct.empty()) continue;
    const auto re = direct.first(direct.size() / 2), im = direct.last(direct.size() / 2);
    const std::size_t there = re.size() / 2 + std::size_t(p.k2) * width;
    for (std::size_t r = 0; r < p.rows; ++r) {
      const std::size_t here = std::size_t(p.k1) * width + std::size_t(p.first + window_) + r;
      const std::size_t row = to + r * width;
      add_multiple(width, half * re[here], half * im[here], &re[there], &im[there], &sum_.re[row], &sum_.im[row]);
    }
  }
}

void vertex_channel::flush(std::span<double> out) {
  check(out.size() == size(), "vertex_channel: flush into an array of another size");
  for (std::size_t i = 0; i < sum_.re.size(); ++i) {
    out[2 * i] += sum_.re[i];
    out[2 * i + 1] += sum_.im[i];
  }
  std::ranges::fill(sum_.re, 0.f);
  std::ranges::fill(sum_.im, 0.f);
}

}  // namespace plaq::dca
