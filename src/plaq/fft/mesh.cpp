// Parts (i, j): with whole lines of x, they have share i of y and share j of z; of y, share i of x and j of z; of z,
// share i of x and j of y. So the first transpose is among parts of one j, the second among those of one i.
#include "plaq/fft/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::fft {

namespace {

std::array<int, 3> sound(std::array<int, 3> n, const mesh_options& how) {
  for (const int one : n)
    if (one < 1)
      throw input_error("a mesh of " + std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " +
                        std::to_string(n[2]) + " points cannot be transformed: each dimension needs at least one");
  if (how.parts_per_rank < 1) throw input_error("parts_per_rank of a mesh must be at least 1");
  return n;
}

/// Numbers of parts (i, j); shares of k_x of real values are the fewest of x.
std::array<int, 2> cut(std::array<int, 3> n, const mesh_options& how, int ranks) {
  const double wanted = double(ranks) * how.parts_per_rank;
  const int most_i = std::min(n[0] / 2 + 1, n[1]), most_j = std::min(n[1], n[2]);
  if (n[2] == 1) return {int(std::min(wanted, double(most_i))), 1};
  if (how.by == cuts::slabs) return {1, int(std::min(wanted, double(most_j)))};
  const int i = std::clamp(int(std::sqrt(wanted)), 1, most_i);
  const int j = std::clamp(int(std::ceil(wanted / i)), 1, most_j);
  return {std::clamp(int(std::ceil(wanted / j)), 1, most_i), j};
}

block overlap(const block& a, const block& b) {
  block out;
  for (std::size_t d = 0; d < 3; ++d) {
    out.first[d] = std::max(a.first[d], b.first[d]);
    out.extent[d] = std::max(0, std::min(a.first[d] + a.extent[d], b.first[d] + b.extent[d]) - out.first[d]);
  }
  return out;
}

/// Calls use(offset in the block, number of points) for the rows of x that it shares with `common`.
template <class Use>
void for_each_row(const block& of, const block& common, Use use) {
  for (int z = 0; z < common.extent[2]; ++z)
    for (int y = 0; y < common.extent[1]; ++y) {
      const auto row =
          std::ptrdiff_t(common.first[2] + z - of.first[2]) * of.extent[1] + common.first[1] + y - of.first[1];
      use(row * of.extent[0] + common.first[0] - of.first[0], std::ptrdiff_t(common.extent[0]));
    }
}

}  // namespace

mesh::mesh(std::string name, const comm::communicator& over, task::detail::pool_base& pool, std::array<int, 3> extent,
           const mesh_options& how)
    : n_(sound(extent, how)),
      parts_(cut(n_, how, over.size())),
      x_(std::size_t(n_[0])),
      y_(std::size_t(n_[1])),
      z_(std::size_t(n_[2])),
      pieces_(
          std::move(name), over, pool, row_homes(box(index2{parts_[0], parts_[1]})), [](index2) { return part{}; },
          load::work),
      chunks_(pieces_.make_port<chunk>("chunk")) {}

std::array<int, 2> mesh::share(int n, int of, int which) {
  const auto first = [&](int k) { return int(std::int64_t(n) * k / of); };
  return {first(which), first(which + 1) - first(which)};
}

block mesh::block_of(stage now, index2 at, bool real) const {
  const int nx = real ? n_[0] / 2 + 1 : n_[0];
  const auto [a, na] = share(now == in_x ? n_[1] : nx, parts_[0], at.x);
  const auto [b, nb] = share(now == in_z ? n_[1] : n_[2], parts_[1], at.y);
  if (now == in_x) return {{0, a, b}, {nx, na, nb}};
  if (now == in_y) return {{a, 0, b}, {na, n_[1], nb}};
  return {{a, b, 0}, {na, nb, n_[2]}};
}

std::vector<block> mesh::blocks_in(stage now, bool real) {
  std::vector<block> out;
  pieces_.each_local([&](index2 at, const part&) { out.push_back(block_of(now, at, real)); });
  return out;
}
std::vector<block> mesh::blocks() { return blocks_in(in_x, false); }
std::vector<block> mesh::blocks_of_k(bool real) { return blocks_in(in_z, real); }

/// Redistributes whole lines of one dimension to whole lines of the next.
void mesh::turn(stage from, stage to, bool real) {
  const bool first_index = from == in_x || to == in_x;  // the parts that have something for each other differ in it
  const int many = first_index ? parts_[0] : parts_[1];
  const auto transform_there = [=, this](const block& mine, std::span<complex> values) {
    if (to > from)
      transform(to, mine, values, true);
    else if (to != in_x)  // x comes last, with the factor
      transform(to, mine, values, false);
  };
  if (many == 1) {  // both blocks are the same
    pieces_.each("transform", [=, this](part& p, context_t& context) {
      transform_there(block_of(to, context.index(), real), p.values);
    });
    return;
  }
  const auto other = [=](index2 at, int k) { return first_index ? index2{k, at.y} : index2{at.x, k}; };
  pieces_.each("send", [=, this](part& p, context_t& context) {
    const block mine = block_of(from, context.index(), real);
    for (int k = 0; k < many; ++k) {
      const index2 at = other(context.index(), k);
      const block common = overlap(mine, block_of(to, at, real));
      chunk values = p.take_spare();
      values.resize(common.size());
      auto next = values.begin();
      for_each_row(mine, common, [&](std::ptrdiff_t at_row, std::ptrdiff_t n) {
        next = std::copy_n(p.values.begin() + at_row, n, next);
      });
      context.send(chunks_, at, std::move(values));
    }
  });
  pieces_.each("transform", chunks_.of(std::size_t(many)), [=, this](part& p, context_t& context) {
    const block mine = block_of(to, context.index(), real);
    p.values.resize(mine.size());
    for (auto& [at, values] : context.take(chunks_)) {
      auto next = values.cbegin();
      for_each_row(mine, overlap(mine, block_of(from, at, real)), [&](std::ptrdiff_t at_row, std::ptrdiff_t n) {
        std::copy_n(next, n, p.values.begin() + at_row);
        next += n;
      });
      p.spare.push_back(std::move(values));
    }
    transform_there(mine, p.values);
  });
}

/// Transforms the lines that are whole in a block.
void mesh::transform(stage now, const block& of, std::span<complex> values, bool forward) const {
  const lines& along = now == in_x ? x_ : now == in_y ? y_ : z_;
  const auto stride = now == in_x ? 1 : std::size_t(of.extent[0]) * (now == in_y ? 1 : std::size_t(of.extent[1]));
  if (stride == 0 || of.size() == 0) return;
  if (forward)
    along.forward(values, stride);
  else
    along.backward(values, stride);
}

void mesh::to_k(bool real) {
  turn(in_x, in_y, real);
  turn(in_y, in_z, real);
}

void mesh::from_k(bool real) {
  turn(in_z, in_y, real);
  turn(in_y, in_x, real);
}

/// Calls first(block, values) for every part, with values of that size.
template <class First>
void mesh::start(stage at, bool real, First first) {
  pieces_.each("read", [=, this](part& p, context_t& context) {
    const block mine = block_of(at, context.index(), real);
    p.values.resize(mine.size());
    first(mine, p.values);
  });
}
/// Calls last(block, values) for every part, and finishes. The parts keep their memory for the next call.
template <class Last>
void mesh::finish(stage at, bool real, Last last) {
  pieces_.each("write",
               [=, this](part& p, context_t& context) { last(block_of(at, context.index(), real), p.values); });
  pieces_.wait();
}

void mesh::start_in_x(const read_complex& read) {
  start(in_x, false, [=, this](const block& of, std::vector<complex>& values) {
    read(of, values);
    x_.forward(std::span(values));
  });
  to_k(false);
}
void mesh::start_in_x(const read_real& read) {
  start(in_x, true, [=, this](const block& of, std::vector<complex>& values) {
    const block points{of.first, {n_[0], of.extent[1], of.extent[2]}};
    std::vector<double> real(points.size());
    read(points, real);
    x_.forward(std::span<const double>(real), values);
  });
  to_k(true);
}
void mesh::finish_in_x(const write_complex& write) {
  from_k(false);
  finish(in_x, false, [=, this](const block& of, std::vector<complex>& values) {
    x_.backward(std::span(values), 1, scale());
    write(of, values);
  });
}
void mesh::finish_in_x(const write_real& write) {
  from_k(true);
  finish(in_x, true, [=, this](const block& of, std::vector<complex>& values) {
    const block points{of.first, {n_[0], of.extent[1], of.extent[2]}};
    std::vector<double> real(points.size());
    x_.backward(std::span<const complex>(values), std::span(real), scale());
    write(points, real);
  });
}

void mesh::forward(const read_complex& read, const write_complex& write) {
  start_in_x(read);
  finish(in_z, false, write);
}
void mesh::forward_real(const read_real& read, const write_complex& write) {
  start_in_x(read);
  finish(in_z, true, write);
}
void mesh::backward(const read_complex& read, const write_complex& write) {
  start(in_z, false, read);
  backward_in_z(false);
  finish_in_x(write);
}
void mesh::backward_real(const read_complex& read, const write_real& write) {
  start(in_z, true, read);
  backward_in_z(true);
  finish_in_x(write);
}
void mesh::apply(const read_complex& read, const change& in_k, const write_complex& write) {
  start_in_x(read);
  change_k(false, in_k);
  backward_in_z(false);
  finish_in_x(write);
}
void mesh::apply_real(const read_real& read, const change& in_k, const write_real& write) {
  start_in_x(read);
  change_k(true, in_k);
  backward_in_z(true);
  finish_in_x(write);
}

void mesh::change_k(bool real, const change& in_k) {
  pieces_.each("change",
               [=, this](part& p, context_t& context) { in_k(block_of(in_z, context.index(), real), p.values); });
}
void mesh::backward_in_z(bool real) {
  pieces_.each("transform", [=, this](part& p, context_t& context) {
    transform(in_z, block_of(in_z, context.index(), real), p.values, false);
  });
}

}  // namespace plaq::fft
