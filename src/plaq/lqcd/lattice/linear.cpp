#include "plaq/lqcd/lattice/linear.hpp"

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

template void combine(context&, spinors<double>&, std::initializer_list<linear_term<double>>);
template void combine(context&, spinors<float>&, std::initializer_list<linear_term<float>>);
template double combine_norm2(context&, spinors<double>&, std::initializer_list<linear_term<double>>);
template double combine_norm2(context&, spinors<float>&, std::initializer_list<linear_term<float>>);
template std::complex<double> dot(context&, const spinors<double>&, const spinors<double>&);
template std::complex<double> dot(context&, const spinors<float>&, const spinors<float>&);
template double norm2(context&, const spinors<double>&);
template double norm2(context&, const spinors<float>&);

}  // namespace plaq::lqcd
