#include "plaq/lqcd/loops.hpp"

#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

namespace {

/// out(x) = in(x + n mu)
matrices moved_by(engine& by, const matrices& in, int mu, int n) {
  matrices out(in), next(in);
  for (int i = 0; i < n; ++i) {
    for (const int p : {0, 1}) shift(by, p, view(next), view(out), mu, 1);
    std::swap(out, next);
  }
  return out;
}

/// Takes lines of links, which start at x, one link further.
void lengthen(engine& by, matrices& line, const links<double>& u, int mu) {
  const auto ahead = moved_by(by, line, mu, 1);
  for (const int p : {0, 1}) product(by, p, view(line), {view(u, mu)}, {view(ahead)});
}

matrices multiple_of_one(const std::shared_ptr<const layout>& where, std::complex<double> z) {
  matrices one(where);
  each_site(*where, [&](const coordinates&, layout::place p) {
    for (const int i : {0, 4, 8}) one.set(p, i, z);
  });
  return one;
}

}  // namespace

std::complex<double> polyakov_loop(engine& by, const links<double>& u, int mu) {
  const auto where = u.shared_layout();
  auto line = multiple_of_one(where, 1);
  for (int i = 0; i < where->on().extents[mu]; ++i) lengthen(by, line, u, mu);
  const double traces = 3 * double(where->on().volume());
  const double re = real_trace(by, view(line), view(multiple_of_one(where, 1)));
  const double im = real_trace(by, view(line), view(multiple_of_one(where, {0, 1})));
  return {re / traces, im / traces};
}

std::vector<double> wilson_loops(engine& by, const links<double>& across, const links<double>& along, int most_r,
                                 int most_t) {
  check(most_r >= 1 && most_t >= 1, "a Wilson loop has sides");
  const auto where = along.shared_layout();
  std::vector<double> loops(std::size_t(most_r * most_t));
  for (int k = 1; k < 4; ++k) {
    auto side = multiple_of_one(where, 1);
    for (int r = 1; r <= most_r; ++r) {
      lengthen(by, side, across, k);
      auto time = multiple_of_one(where, 1);
      matrices left(where), right(where);
      for (int t = 1; t <= most_t; ++t) {
        lengthen(by, time, along, 0);
        const auto far = moved_by(by, time, k, r), above = moved_by(by, side, 0, t);
        for (const int p : {0, 1}) {
          product(by, p, view(left), {view(side)}, {view(far)});
          product(by, p, view(right), {view(time)}, {view(above)});
        }
        loops[std::size_t((r - 1) * most_t + t - 1)] +=
            real_trace(by, view(left), view(right)) / (9 * double(where->on().volume()));
      }
    }
  }
  return loops;
}

}  // namespace plaq::lqcd
