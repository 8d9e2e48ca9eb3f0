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

/// Returns `all` as an array in one piece.
std::array<std::span<const complex>, 1> whole(const std::vector<complex>& all) { return {std::span(all)}; }

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

mesh::chunk mesh::part::make_chunk(std::size_t size) {
  chunk out;
  if (!spare.empty()) out = std::move(spare.back()), spare.pop_back();
  if (out.capacity() < size) return chunk(size);
  out.resize(size);
  return out;
}

/// Returns the real values of a part, in the memory of its complex ones: at the end before the transform along x, at
/// the beginning after the one back.
std::span<double> mesh::reals_of(part& p, const block& of, bool forward) const {
  const std::size_t size = std::size_t(n_[0]) * std::size_t(of.extent[1]) * std::size_t(of.extent[2]);
  auto* const first = reinterpret_cast<double*>(p.values.data());
  return {first + (forward ? 2 * p.values.size() - size : 0), size};
}

/// Transforms the lines that are whole in a block.
void mesh::transform(stage now, const course& of, part& p, const block& mine, lines::constant_pieces from,
                     lines::pieces to) const {
  if (mine.size() == 0) return;
  const lines& along = now == in_x ? x_ : now == in_y ? y_ : z_;
  const auto extent = [&](int d) { return std::size_t(mine.extent[std::size_t(d)]); };
  const std::size_t stride = now == in_x ? 1 : now == in_y ? extent(0) : extent(0) * extent(1);
  const double factor = now == in_x ? scale() : 1;
  if (now == in_x && of.real && of.forward)
    along.forward(reals_of(p, mine, true), to);
  else if (now == in_x && of.real)
    along.backward(from, reals_of(p, mine, false), factor);
  else if (of.forward)
    along.forward(from, to, stride);
  else
    along.backward(from, to, stride, factor);
}

/// Transforms the lines of one dimension, from pieces to those of the parts that have whole lines of the next. If that
/// is this part alone, it goes on.
void mesh::advance(part& p, context_t& context, stage now, const course& of, lines::constant_pieces from) {
  const block mine = block_of(now, context.index(), of.real);
  const bool is_last = now == (of.forward ? in_z : in_x);
  const stage next = is_last ? now : stage(of.forward ? now + 1 : now - 1);
  const int many = is_last ? 1 : parts_between(now, next);
  if (many == 1) {
    p.values.resize(mine.size());
    transform(now, of, p, mine, from, std::array{std::span(p.values)});
    if (!is_last) advance(p, context, next, of, whole(p.values));
    return;
  }
  const int length = mine.extent[std::size_t(now)];
  std::vector<chunk> chunks;
  for (int k = 0; k < many; ++k)
    chunks.push_back(p.make_chunk(mine.size() / std::size_t(length) * std::size_t(share(length, many, k)[1])));
  transform(now, of, p, mine, from, std::vector<std::span<complex>>(chunks.begin(), chunks.end()));
  const auto [x, y] = context.index();
  const bool first_index = now == in_x || next == in_x;  // the parts that have something for each other differ in it
  for (int k = 0; k < many; ++k)
    context.send(chunks_, first_index ? index2{k, y} : index2{x, k}, std::move(chunks[std::size_t(k)]));
}

/// Calls read(block, values) for every part, with whole lines of the first dimension, and transforms these.
template <class Read>
void mesh::start(const course& of, Read read) {
  const stage at = of.forward ? in_x : in_z;
  pieces_.each("read", [=, this](part& p, context_t& context) {
    const block mine = block_of(at, context.index(), of.real);
    p.values.resize(mine.size());
    read(p, mine);
    advance(p, context, at, of, whole(p.values));
  });
  go(of);
}

/// Goes on with whole lines of the next dimension, where other parts have pieces of them.
void mesh::turn(stage from, stage to, const course& of) {
  const int many = parts_between(from, to);
  if (many == 1) return;
  const bool first_index = from == in_x || to == in_x;
  pieces_.each("transform", chunks_.of(std::size_t(many)), [=, this](part& p, context_t& context) {
    auto received = context.take(chunks_);
    std::vector<std::span<const complex>> pieces(received.size());
    for (const auto& [at, values] : received) pieces[std::size_t(first_index ? at.x : at.y)] = values;
    advance(p, context, to, of, pieces);
    for (auto& [at, values] : received) p.spare.push_back(std::move(values));
  });
}

void mesh::go(const course& of) {
  turn(of.forward ? in_x : in_z, in_y, of);
  turn(in_y, of.forward ? in_z : in_x, of);
}

/// Calls write(part, block) for every part, and finishes. The parts keep their memory for the next call.
template <class Write>
void mesh::finish(const course& of, Write write) {
  const stage at = of.forward ? in_z : in_x;
  pieces_.each("write", [=, this](part& p, context_t& context) { write(p, block_of(at, context.index(), of.real)); });
  pieces_.wait();
}

/// Applies a change in k space, and begins the transform back.
void mesh::change_k(bool real, const change& in_k) {
  const course back{false, real};
  pieces_.each("change", [=, this](part& p, context_t& context) {
    in_k(block_of(in_z, context.index(), real), p.values);
    advance(p, context, in_z, back, whole(p.values));
  });
  go(back);
}

// What calls of the program do with a part.

auto mesh::reads(const read_complex& read) const {
  return [read](part& p, const block& mine) { read(mine, p.values); };
}
auto mesh::reads(const read_real& read) const {
  return [read, this](part& p, const block& mine) { read(points_of(mine), reals_of(p, mine, true)); };
}
auto mesh::writes(const write_complex& write) const {
  return [write](part& p, const block& mine) { write(mine, p.values); };
}
auto mesh::writes(const write_real& write) const {
  return [write, this](part& p, const block& mine) { write(points_of(mine), reals_of(p, mine, false)); };
}

void mesh::forward(const read_complex& read, const write_complex& write) {
  start({true, false}, reads(read));
  finish({true, false}, writes(write));
}
void mesh::forward_real(const read_real& read, const write_complex& write) {
  start({true, true}, reads(read));
  finish({true, true}, writes(write));
}
void mesh::backward(const read_complex& read, const write_complex& write) {
  start({false, false}, reads(read));
  finish({false, false}, writes(write));
}
void mesh::backward_real(const read_complex& read, const write_real& write) {
  start({false, true}, reads(read));
  finish({false, true}, writes(write));
}
void mesh::apply(const read_complex& read, const change& in_k, const write_complex& write) {
  start({true, false}, reads(read));
  change_k(false, in_k);
  finish({false, false}, writes(write));
}
void mesh::apply_real(const read_real& read, const change& in_k, const write_real& write) {
  start({true, true}, reads(read));
  change_k(true, in_k);
  finish({false, true}, writes(write));
}

}  // namespace plaq::fft
