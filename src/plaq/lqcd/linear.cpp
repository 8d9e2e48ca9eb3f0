#include "plaq/lqcd/linear.hpp"

#include <array>
#include <mutex>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/linear_kernel.hpp"

namespace plaq::lqcd {

namespace {

/// `work(first, end, sums)` on parts of the blocks; the sums of all parts and ranks, rounded.
template <std::size_t Sums, class Work>
std::array<double, Sums> summed(engine& by, task::task_name name, std::int64_t blocks, Work&& work) {
  std::mutex lock;
  std::array<exact_sum, Sums> total;
  by.hands.each(name, std::size_t(blocks), [&](std::size_t first, std::size_t end) {
    std::array<exact_sum, Sums> mine;
    work(first, end, mine);
    for (auto& sum : mine) sum.settle();
    std::lock_guard guard(lock);
    for (std::size_t i = 0; i < Sums; ++i) total[i].add(mine[i]);
  });
  std::vector<std::int64_t> limbs;
  for (auto& sum : total) {
    sum.settle();
    limbs.insert(limbs.end(), sum.limbs().begin(), sum.limbs().end());
  }
  if (by.together.size() > 1) by.together.all_reduce(limbs, comm::operation::sum);
  std::array<double, Sums> values;
  for (std::size_t i = 0; i < Sums; ++i) {
    const auto here = total[i].limbs();
    std::copy_n(limbs.begin() + std::ptrdiff_t(i * here.size()), here.size(), here.begin());
    values[i] = total[i].value();
  }
  return values;
}

template <class T>
std::vector<term<T>> to_terms(const spinors<T>& out, std::initializer_list<times<T>> terms) {
  std::vector<term<T>> found;
  for (const auto& t : terms) {
    check(t.x->same_places(out), "a linear combination of fields with different sites");
    found.push_back({t.x->data(), t.upper, t.lower});
  }
  return found;
}

}  // namespace

template <class T>
void combine(engine& by, spinors<T>& out, std::initializer_list<times<T>> terms) {
  const auto list = to_terms(out, terms);
  by.hands.each("combine", std::size_t(out.blocks()), [&](std::size_t first, std::size_t end) {
    combine<T>(out.lanes(), first, end, out.data(), list, nullptr);
  });
}

template <class T>
double combine_norm2(engine& by, spinors<T>& out, std::initializer_list<times<T>> terms) {
  const auto list = to_terms(out, terms);
  return summed<1>(by, "combine", out.blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    combine<T>(out.lanes(), first, end, out.data(), list, &sums[0]);
  })[0];
}

template <class T>
std::complex<double> dot(engine& by, const spinors<T>& x, const spinors<T>& y) {
  check(x.same_places(y), "a product of fields with different sites");
  const auto found = summed<2>(by, "dot", x.blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    multiply(x.lanes(), first, end, x.data(), y.data(), sums[0], sums[1]);
  });
  return {found[0], found[1]};
}

template <class T>
double norm2(engine& by, const spinors<T>& x) {
  return summed<1>(by, "norm2", x.blocks(), [&](std::size_t first, std::size_t end, auto& sums) {
    square(x.lanes(), first, end, x.data(), sums[0]);
  })[0];
}

template void combine(engine&, spinors<double>&, std::initializer_list<times<double>>);
template void combine(engine&, spinors<float>&, std::initializer_list<times<float>>);
template double combine_norm2(engine&, spinors<double>&, std::initializer_list<times<double>>);
template double combine_norm2(engine&, spinors<float>&, std::initializer_list<times<float>>);
template std::complex<double> dot(engine&, const spinors<double>&, const spinors<double>&);
template std::complex<double> dot(engine&, const spinors<float>&, const spinors<float>&);
template double norm2(engine&, const spinors<double>&);
template double norm2(engine&, const spinors<float>&);

}  // namespace plaq::lqcd
