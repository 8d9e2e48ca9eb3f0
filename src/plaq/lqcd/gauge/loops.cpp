#include "plaq/lqcd/gauge/loops.hpp"

#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

namespace {

/// Returns out(x) = in(x + n mu).
matrices translate(context& ctx, const matrices& in, int mu, int n) {
  matrices out(in), next(in);
  for (int i = 0; i < n; ++i) {
    for (const int p : {0, 1}) shift(ctx, p, view(next), view(out), mu, 1);
    std::swap(out, next);
  }
  return out;
}

/// Extends lines of links, which start at x, by one link.
void lengthen(context& ctx, matrices& line, const links<double>& u, int mu) {
  const auto ahead = translate(ctx, line, mu, 1);
  for (const int p : {0, 1}) multiply(ctx, p, view(line), {view(u, mu)}, {view(ahead)});
}

matrices multiple_of_one(const std::shared_ptr<const site_layout>& layout, std::complex<double> z) {
  matrices one(layout);
  for_each_site(*layout, [&](const coordinates&, site_layout::location p) {
    for (const int i : {0, 4, 8}) one.set(p, i, z);
  });
  return one;
}

}  // namespace

std::complex<double> polyakov_loop(context& ctx, const links<double>& u, int mu) {
  const auto layout = u.shared_layout();
  auto line = multiple_of_one(layout, 1);
  for (int i = 0; i < layout->lattice().extents[mu]; ++i) lengthen(ctx, line, u, mu);
  const double traces = 3 * double(layout->lattice().volume());
  const double re = real_trace(ctx, view(line), view(multiple_of_one(layout, 1)));
  const double im = real_trace(ctx, view(line), view(multiple_of_one(layout, {0, 1})));
  return {re / traces, im / traces};
}

std::vector<double> wilson_loops(context& ctx, const links<double>& across, const links<double>& along, int max_r,
                                 int max_t) {
  check(max_r >= 1 && max_t >= 1, "a Wilson loop needs sides of at least 1");
  const auto layout = along.shared_layout();
  std::vector<double> loops(std::size_t(max_r * max_t));
  for (int k = 1; k < 4; ++k) {
    auto side = multiple_of_one(layout, 1);
    for (int r = 1; r <= max_r; ++r) {
      lengthen(ctx, side, across, k);
      auto time = multiple_of_one(layout, 1);
      matrices left(layout), right(layout);
      for (int t = 1; t <= max_t; ++t) {
        lengthen(ctx, time, along, 0);
        const auto far = translate(ctx, time, k, r), above = translate(ctx, side, 0, t);
        for (const int p : {0, 1}) {
          multiply(ctx, p, view(left), {view(side)}, {view(far)});
          multiply(ctx, p, view(right), {view(time)}, {view(above)});
        }
        loops[std::size_t((r - 1) * max_t + t - 1)] +=
            real_trace(ctx, view(left), view(right)) / (9 * double(layout->lattice().volume()));
      }
    }
  }
  return loops;
}

}  // namespace plaq::lqcd
