#include "plaq/lqcd/lattice/linear.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/linear_kernel.hpp"
#include "plaq/lqcd/lattice/site_sum.hpp"

namespace plaq::lqcd {

namespace {

template <class T>
std::vector<term<T>> to_terms(const spinors<T>& out, std::initializer_list<linear_term<T>> terms) {
  std::vector<term<T>> list;
  for (const auto& t : terms) {
    check(t.x->same_sites(out), "a linear combination of fields with different sites");
    list.push_back({t.x->data(), t.upper, t.lower});
  }
  return list;
}

/// Calls work(begin, end) on pieces that stay in the first cache while several fields are read.
template <class Work>
void by_pieces(std::size_t first, std::size_t end, Work&& work) {
  constexpr std::size_t groups = 4;
  for (; first < end; first += groups) work(first, std::min(first + groups, end));
}

}  // namespace

template <class T>
void combine(context& ctx, spinors<T>& out, std::initializer_list<linear_term<T>> terms) {
  const auto list = to_terms(out, terms);
  ctx.workers.parallel_for("combine", std::size_t(out.groups()), [&](std::size_t first, std::size_t end) {
    combine<T>(out.lanes(), first, end, out.data(), list, nullptr);
  });
}

template <class T>
double combine_norm2(context& ctx, spinors<T>& out, std::initializer_list<linear_term<T>> terms) {
  const auto list = to_terms(out, terms);
  return sum_over_sites(ctx, "combine", 1, out.groups(), [&](std::size_t first, std::size_t end, auto& sums) {
    combine<T>(out.lanes(), first, end, out.data(), list, &sums[0]);
  })[0];
}

template <class T>
void advance(context& ctx, spinors<T>& sum, spinors<T>& p, const spinors<T>& r, T a, T b) {
  advance<T>(ctx, {{&sum, &p, {{&r, a, 1, b}}}});
}

template <class T>
void advance(context& ctx, const std::vector<advancing_sum<T>>& sums) {
  std::vector<std::vector<step<T>>> steps;
  for (const auto& s : sums) {
    check(s.sum->same_sites(*sums[0].sum) && s.p->same_sites(*s.sum), "sums of fields with different sites");
    for (auto& list = steps.emplace_back(); const auto& [r, a, b, c] : s.steps) {
      check(r->same_sites(*s.sum), "sums of fields with different sites");
      list.push_back({r->data(), a, b, c});
    }
  }
  if (sums.empty()) return;
  ctx.workers.parallel_for("advance", std::size_t(sums[0].sum->groups()), [&](std::size_t first, std::size_t end) {
    by_pieces(first, end, [&](std::size_t begin, std::size_t stop) {
      for (std::size_t i = 0; i < sums.size(); ++i)
        advance<T>(sums[i].sum->lanes(), begin, stop, sums[i].sum->data(), sums[i].p->data(), steps[i]);
    });
  });
}

template <class T>
std::complex<double> dot(context& ctx, const spinors<T>& x, const spinors<T>& y) {
  check(x.same_sites(y), "a product of fields with different sites");
  const auto parts = sum_over_sites(ctx, "dot", 2, x.groups(), [&](std::size_t first, std::size_t end, auto& sums) {
    add_scalar_product(x.lanes(), first, end, x.data(), y.data(), sums[0], sums[1]);
  });
  return {parts[0], parts[1]};
}

template <class T>
double norm2(context& ctx, const spinors<T>& x) {
  return sum_over_sites(ctx, "norm2", 1, x.groups(), [&](std::size_t first, std::size_t end, auto& sums) {
    add_norm2(x.lanes(), first, end, x.data(), sums[0]);
  })[0];
}

template <class T>
std::vector<std::complex<double>> dots(context& ctx, const std::vector<const spinors<T>*>& x, const spinors<T>& y) {
  for (const auto* one : x) check(one->same_sites(y), "a product of fields with different sites");
  const auto parts =
      sum_over_sites(ctx, "dots", int(2 * x.size()), y.groups(), [&](std::size_t first, std::size_t end, auto& sums) {
        by_pieces(first, end, [&](std::size_t begin, std::size_t stop) {
          for (std::size_t i = 0; i < x.size(); ++i)
            add_scalar_product(y.lanes(), begin, stop, x[i]->data(), y.data(), sums[2 * i], sums[2 * i + 1]);
        });
      });
  std::vector<std::complex<double>> products;
  for (std::size_t i = 0; i < x.size(); ++i) products.emplace_back(parts[2 * i], parts[2 * i + 1]);
  return products;
}

template <class T>
void add(context& ctx, spinors<T>& y, std::span<const std::complex<double>> a, std::span<const spinors<T>> x) {
  for (std::size_t i = 0; i < a.size(); ++i) check(x[i].same_sites(y), "a sum of fields with different sites");
  ctx.workers.parallel_for("add", std::size_t(y.groups()), [&](std::size_t first, std::size_t end) {
    by_pieces(first, end, [&](std::size_t begin, std::size_t stop) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        const std::complex<T> factor(a[i]);
        const std::array<term<T>, 2> terms{{{y.data(), 1, 1}, {x[i].data(), factor, factor}}};
        combine<T>(y.lanes(), begin, stop, y.data(), terms, nullptr);
      }
    });
  });
}

template void combine(context&, spinors<double>&, std::initializer_list<linear_term<double>>);
template void combine(context&, spinors<float>&, std::initializer_list<linear_term<float>>);
template double combine_norm2(context&, spinors<double>&, std::initializer_list<linear_term<double>>);
template double combine_norm2(context&, spinors<float>&, std::initializer_list<linear_term<float>>);
template void advance(context&, spinors<double>&, spinors<double>&, const spinors<double>&, double, double);
template void advance(context&, spinors<float>&, spinors<float>&, const spinors<float>&, float, float);
template void advance(context&, const std::vector<advancing_sum<double>>&);
template void advance(context&, const std::vector<advancing_sum<float>>&);
template std::complex<double> dot(context&, const spinors<double>&, const spinors<double>&);
template std::complex<double> dot(context&, const spinors<float>&, const spinors<float>&);
template double norm2(context&, const spinors<double>&);
template double norm2(context&, const spinors<float>&);
template std::vector<std::complex<double>> dots(context&, const std::vector<const spinors<double>*>&,
                                                const spinors<double>&);
template std::vector<std::complex<double>> dots(context&, const std::vector<const spinors<float>*>&,
                                                const spinors<float>&);
template void add(context&, spinors<double>&, std::span<const std::complex<double>>, std::span<const spinors<double>>);
template void add(context&, spinors<float>&, std::span<const std::complex<double>>, std::span<const spinors<float>>);

}  // namespace plaq::lqcd
