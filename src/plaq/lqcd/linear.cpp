#include "plaq/lqcd/linear.hpp"

#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/linear_kernel.hpp"
#include "plaq/lqcd/site_sum.hpp"

namespace plaq::lqcd {

namespace {

template <class T>
std::vector<term<T>> to_terms(const spinors<T>& out, std::initializer_list<weighted<T>> terms) {
  std::vector<term<T>> found;
  for (const auto& t : terms) {
    check(t.x->same_places(out), "a linear combination of fields with different sites");
    found.push_back({t.x->data(), t.upper, t.lower});
  }
  return found;
}

}  // namespace

template <class T>
void combine(engine& by, spinors<T>& out, std::initializer_list<weighted<T>> terms) {
  const auto list = to_terms(out, terms);
  by.hands.each("combine", std::size_t(out.blocks()), [&](std::size_t first, std::size_t end) {
    combine<T>(out.lanes(), first, end, out.data(), list, nullptr);
  });
}

template <class T>
double combine_norm2(engine& by, spinors<T>& out, std::initializer_list<weighted<T>> terms) {
  const auto list = to_terms(out, terms);
  return summed(by, "combine", 1, out.blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    combine<T>(out.lanes(), first, end, out.data(), list, &sums[0]);
  })[0];
}

template <class T>
std::complex<double> dot(engine& by, const spinors<T>& x, const spinors<T>& y) {
  check(x.same_places(y), "a product of fields with different sites");
  const auto found = summed(by, "dot", 2, x.blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    multiply(x.lanes(), first, end, x.data(), y.data(), sums[0], sums[1]);
  });
  return {found[0], found[1]};
}

template <class T>
double norm2(engine& by, const spinors<T>& x) {
  return summed(by, "norm2", 1, x.blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    square(x.lanes(), first, end, x.data(), sums[0]);
  })[0];
}

template void combine(engine&, spinors<double>&, std::initializer_list<weighted<double>>);
template void combine(engine&, spinors<float>&, std::initializer_list<weighted<float>>);
template double combine_norm2(engine&, spinors<double>&, std::initializer_list<weighted<double>>);
template double combine_norm2(engine&, spinors<float>&, std::initializer_list<weighted<float>>);
template std::complex<double> dot(engine&, const spinors<double>&, const spinors<double>&);
template std::complex<double> dot(engine&, const spinors<float>&, const spinors<float>&);
template double norm2(engine&, const spinors<double>&);
template double norm2(engine&, const spinors<float>&);

}  // namespace plaq::lqcd
