#include "plaq/lqcd/matrices.hpp"

#include <algorithm>
#include <vector>

#include "plaq/lqcd/site_sum.hpp"

namespace plaq::lqcd {

namespace {

// Of messages that go by the hopping matrix there are as many as directions, by the same messenger.
constexpr int tag = neighbours;

std::int64_t first_of(const layout& where, int parity) { return parity * where.half(); }

}  // namespace

void product(engine& by, int parity, matrix_view<double> out, factor a, factor b, bool add) {
  const std::int64_t start = first_of(*out.where, parity);
  by.hands.each("product", std::size_t(out.where->half()), [&](std::size_t first, std::size_t end) {
    detail::product_blocks(out.where->lanes(), start + std::int64_t(first), start + std::int64_t(end), out, a, b, add);
  });
}

void add(engine& by, int parity, matrix_view<double> out, const_matrix_view a) {
  const std::int64_t start = first_of(*out.where, parity);
  by.hands.each("add", std::size_t(out.where->half()), [&](std::size_t first, std::size_t end) {
    for (std::int64_t b = start + std::int64_t(first); b < start + std::int64_t(end); ++b)
      for (int i = 0; i < 18 * out.where->lanes(); ++i) out.block(b)[i] += a.block(b)[i];
  });
}

double real_trace(engine& by, const_matrix_view a, const_matrix_view b) {
  return summed(by, "trace", 1, a.where->blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    detail::trace_blocks(a.where->lanes(), std::int64_t(first), std::int64_t(end), a, b, sums[0]);
  })[0];
}

namespace {

/// `Reals` numbers of each site, those of a block where out(b) and in(b) begin.
template <int Reals, class Out, class In>
void shift_numbers(engine& by, const layout& where, int parity, Out&& out, In&& in, int mu, int step) {
  const int n = where.lanes(), d = 2 * mu + (step < 0);
  const auto& from = where.lane_from(d);
  const auto& lanes = where.lanes_at_edge(d);
  const auto take = [&](double* to, const double* block, bool moves) {
    if (!moves) {
      std::copy_n(block, Reals * n, to);
      return;
    }
    for (int i = 0; i < Reals; ++i)
      for (int l = 0; l < n; ++l) to[i * n + l] = block[i * n + from[l]];
  };
  // What lies at the edge, moved to its lanes, is wanted by the rank behind; all else stays.
  const bool cut = where.is_cut(mu);
  const auto& face = where.face(parity, d);
  std::vector<double> send(cut ? face.size() * Reals * lanes.size() : 0), came(send.size());
  task::future<comm::status> coming, going;
  if (cut) {
    coming = by.messages.irecv(std::span(came), where.on().neighbour_rank(mu, step), tag);
    std::vector<double> moved(std::size_t(Reals * n));
    double* next = send.data();
    for (const auto b : face) {
      take(moved.data(), in(b), true);
      for (int i = 0; i < Reals; ++i)
        for (const int l : lanes) *next++ = moved[std::size_t(i * n + l)];
    }
    going = by.messages.isend(std::span(send), where.on().neighbour_rank(mu, -step), tag);
  }
  const std::int64_t start = first_of(where, parity);
  by.hands.each("shift", std::size_t(where.half()), [&](std::size_t first, std::size_t end) {
    for (std::int64_t b = start + std::int64_t(first); b < start + std::int64_t(end); ++b) {
      const unsigned edges = where.edges(b);
      const std::int64_t there = where.next(b)[d];
      take(out(b), in(edges >> (8 + d) & 1 ? face[std::size_t(there)] : there), edges >> d & 1);
    }
  });
  if (!cut) return;
  coming.get();
  for (std::int64_t b = start; b < start + where.half(); ++b) {
    if (!(where.edges(b) >> (8 + d) & 1)) continue;
    const double* next = came.data() + std::size_t(where.next(b)[d]) * Reals * lanes.size();
    for (int i = 0; i < Reals; ++i)
      for (const int l : lanes) out(b)[i * n + l] = *next++;
  }
  going.get();
}

}  // namespace

void shift(engine& by, int parity, matrix_view<double> out, const_matrix_view in, int mu, int step) {
  shift_numbers<18>(
      by, *out.where, parity, [&](std::int64_t b) { return out.block(b); }, [&](std::int64_t b) { return in.block(b); },
      mu, step);
}

void shift(engine& by, int parity, spinors<double>& out, const spinors<double>& in, int mu, int step) {
  shift_numbers<24>(
      by, out.where(), parity, [&](std::int64_t b) { return out.block(b); },
      [&](std::int64_t b) { return in.block(b); }, mu, step);
}

}  // namespace plaq::lqcd
