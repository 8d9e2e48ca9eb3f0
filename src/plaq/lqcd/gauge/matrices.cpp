#include "plaq/lqcd/gauge/matrices.hpp"

#include <algorithm>
#include <vector>

#include "plaq/lqcd/lattice/site_sum.hpp"

namespace plaq::lqcd {

namespace {

// Tag of messages; smaller ones are the hopping matrix's, one for each direction, with the same messenger.
constexpr int tag = neighbours;

std::int64_t first_of(const site_layout& layout, int parity) { return parity * layout.half(); }

}  // namespace

void multiply(context& ctx, int parity, matrix_view<double> out, factor a, factor b, bool add) {
  const std::int64_t start = first_of(*out.layout, parity);
  ctx.workers.parallel_for("product", std::size_t(out.layout->half()), [&](std::size_t first, std::size_t end) {
    detail::multiply_groups(out.layout->lanes(), start + std::int64_t(first), start + std::int64_t(end), out, a, b,
                            add);
  });
}

void add(context& ctx, int parity, matrix_view<double> out, const_matrix_view a) {
  const std::int64_t start = first_of(*out.layout, parity);
  ctx.workers.parallel_for("add", std::size_t(out.layout->half()), [&](std::size_t first, std::size_t end) {
    for (std::int64_t b = start + std::int64_t(first); b < start + std::int64_t(end); ++b)
      for (int i = 0; i < 18 * out.layout->lanes(); ++i) out.group(b)[i] += a.group(b)[i];
  });
}

double real_trace(context& ctx, const_matrix_view a, const_matrix_view b) {
  return sum_over_sites(ctx, "trace", 1, a.layout->groups(), [&](std::size_t first, std::size_t end, auto& sums) {
    detail::add_trace(a.layout->lanes(), std::int64_t(first), std::int64_t(end), a, b, sums[0]);
  })[0];
}

namespace {

/// Shifts `Reals` numbers of each site; those of group b begin at out(b) and in(b).
template <int Reals, class Out, class In>
void shift_numbers(context& ctx, const site_layout& layout, int parity, Out&& out, In&& in, int mu, int step) {
  const int n = layout.lanes(), d = 2 * mu + (step < 0);
  const auto& from = layout.lane_from(d);
  const auto& lanes = layout.lanes_at_edge(d);
  const auto copy_group = [&](double* to, const double* group, bool permute) {
    if (!permute) {
      std::copy_n(group, Reals * n, to);
      return;
    }
    for (int i = 0; i < Reals; ++i)
      for (int l = 0; l < n; ++l) to[i * n + l] = group[i * n + from[l]];
  };
  // Numbers at the edge, permuted to their lanes, go to the rank behind; all others stay.
  const bool cut = layout.is_cut(mu);
  const auto& face = layout.face(parity, d);
  std::vector<double> send_buffer(cut ? face.size() * Reals * lanes.size() : 0), receive_buffer(send_buffer.size());
  task::future<comm::status> receive, send;
  if (cut) {
    receive = ctx.messages.irecv(std::span(receive_buffer), layout.lattice().neighbour_rank(mu, step), tag);
    std::vector<double> permuted(std::size_t(Reals * n));
    double* next = send_buffer.data();
    for (const auto b : face) {
      copy_group(permuted.data(), in(b), true);
      for (int i = 0; i < Reals; ++i)
        for (const int l : lanes) *next++ = permuted[std::size_t(i * n + l)];
    }
    send = ctx.messages.isend(std::span(send_buffer), layout.lattice().neighbour_rank(mu, -step), tag);
  }
  const std::int64_t start = first_of(layout, parity);
  ctx.workers.parallel_for("shift", std::size_t(layout.half()), [&](std::size_t first, std::size_t end) {
    for (std::int64_t b = start + std::int64_t(first); b < start + std::int64_t(end); ++b) {
      const unsigned edges = layout.edges(b);
      const std::int64_t there = layout.neighbours_of(b)[d];
      copy_group(out(b), in(edges >> (8 + d) & 1 ? face[std::size_t(there)] : there), edges >> d & 1);
    }
  });
  if (!cut) return;
  receive.get();
  for (std::int64_t b = start; b < start + layout.half(); ++b) {
    if (!(layout.edges(b) >> (8 + d) & 1)) continue;
    const double* next = receive_buffer.data() + std::size_t(layout.neighbours_of(b)[d]) * Reals * lanes.size();
    for (int i = 0; i < Reals; ++i)
      for (const int l : lanes) out(b)[i * n + l] = *next++;
  }
  send.get();
}

}  // namespace

void shift(context& ctx, int parity, matrix_view<double> out, const_matrix_view in, int mu, int step) {
  shift_numbers<18>(
      ctx, *out.layout, parity, [&](std::int64_t b) { return out.group(b); },
      [&](std::int64_t b) { return in.group(b); }, mu, step);
}

void shift(context& ctx, int parity, spinors<double>& out, const spinors<double>& in, int mu, int step) {
  shift_numbers<24>(
      ctx, out.layout(), parity, [&](std::int64_t b) { return out.group(b); },
      [&](std::int64_t b) { return in.group(b); }, mu, step);
}

}  // namespace plaq::lqcd
