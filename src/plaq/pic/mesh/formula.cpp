#include "plaq/pic/mesh/formula.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::pic {

namespace {

using operation = void (*)(double*, std::size_t);

template <auto F>
void unary(double* a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = F(a[i]);
}
template <auto F>
void binary(double* a, std::size_t n) {
  const double* b = a + n;
  for (std::size_t i = 0; i < n; ++i) a[i] = F(a[i], b[i]);
}
double floored_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
void choose(double* a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) a[i] = a[i] != 0 ? a[i + n] : a[i + 2 * n];
}

/// Returns the functions and operators by symbol and number of arguments; -1 for any, taken two at a time.
const std::map<std::pair<std::string, int>, operation>& operations() {
  using d = double;
  static const std::map<std::pair<std::string, int>, operation> all{
      {{"sin", 1}, unary<[](d x) { return std::sin(x); }>},
      {{"cos", 1}, unary<[](d x) { return std::cos(x); }>},
      {{"tan", 1}, unary<[](d x) { return std::tan(x); }>},
      {{"asin", 1}, unary<[](d x) { return std::asin(x); }>},
      {{"acos", 1}, unary<[](d x) { return std::acos(x); }>},
      {{"atan", 1}, unary<[](d x) { return std::atan(x); }>},
      {{"sinh", 1}, unary<[](d x) { return std::sinh(x); }>},
      {{"cosh", 1}, unary<[](d x) { return std::cosh(x); }>},
      {{"tanh", 1}, unary<[](d x) { return std::tanh(x); }>},
      {{"exp", 1}, unary<[](d x) { return std::exp(x); }>},
      {{"log", 1}, unary<[](d x) { return std::log(x); }>},
      {{"log10", 1}, unary<[](d x) { return std::log10(x); }>},
      {{"sqrt", 1}, unary<[](d x) { return std::sqrt(x); }>},
      {{"floor", 1}, unary<[](d x) { return std::floor(x); }>},
      {{"ceil", 1}, unary<[](d x) { return std::ceil(x); }>},
      {{"abs", 1}, unary<[](d x) { return std::abs(x); }>},
      {{"sign", 1}, unary<[](d x) { return 0 < x   ? 1.0
                                           : x < 0 ? -1.0
                                                   : x; }>},
      {{"erf", 1}, unary<[](d x) { return std::erf(x); }>},
      {{"step", 1}, unary<[](d x) { return 0 <= x ? 1.0 : 0.0; }>},
      {{"-", 1}, unary<[](d x) { return -x; }>},
      {{"+", 2}, binary<[](d a, d b) { return a + b; }>},
      {{"-", 2}, binary<[](d a, d b) { return a - b; }>},
      {{"*", 2}, binary<[](d a, d b) { return a * b; }>},
      {{"/", 2}, binary<[](d a, d b) { return a / b; }>},
      {{"^", 2}, binary<[](d a, d b) { return b == 2 ? a * a : std::pow(a, b); }>},
      {{"<", 2}, binary<[](d a, d b) { return a < b ? 1.0 : 0.0; }>},
      {{"<=", 2}, binary<[](d a, d b) { return a <= b ? 1.0 : 0.0; }>},
      {{">", 2}, binary<[](d a, d b) { return b < a ? 1.0 : 0.0; }>},
      {{">=", 2}, binary<[](d a, d b) { return b <= a ? 1.0 : 0.0; }>},
      {{"==", 2}, binary<[](d a, d b) { return a == b ? 1.0 : 0.0; }>},
      {{"!=", 2}, binary<[](d a, d b) { return a != b ? 1.0 : 0.0; }>},
      {{"and", 2}, binary<[](d a, d b) { return a != 0 && b != 0 ? 1.0 : 0.0; }>},
      {{"or", 2}, binary<[](d a, d b) { return a != 0 || b != 0 ? 1.0 : 0.0; }>},
      {{"atan2", 2}, binary<[](d a, d b) { return std::atan2(a, b); }>},
      {{"gauss", 2}, binary<[](d x, d w) { return std::exp(-0.5 * (x / w) * (x / w)); }>},
      {{"mod", 2}, binary<floored_remainder>},
      {{"min", -1}, binary<[](d a, d b) { return a < b || a != a ? a : b; }>},
      {{"max", -1}, binary<[](d a, d b) { return b < a || a != a ? a : b; }>},
      {{"if", 3}, choose},
      {{"where", 3}, choose},
  };
  return all;
}

/// Returns the value of a table at x.
double of_table(const std::vector<double>& xs, const std::vector<double>& ys, double x) {
  if (x <= xs.front()) return ys.front();
  if (x >= xs.back()) return ys.back();
  if (x != x) return x;
  const auto i = std::size_t(std::ranges::upper_bound(xs, x) - xs.begin());
  return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
}

}  // namespace

formula::formula(const std::vector<step>& program) {
  int depth = 0;
  for (const step& s : program) {
    compiled c{.takes = s.takes, .number = s.number, .x = s.x, .y = s.y};
    if (s.takes == 0) {
      constexpr std::string_view variables = "xyzt";
      if (!s.symbol.empty()) c.variable = int(variables.find(s.symbol));
      if (!s.symbol.empty() && (s.symbol.size() != 1 || c.variable < 0))
        throw input_error("\"" + s.symbol + "\" is not a variable of a field: x, y, z, t");
      depends_on_time_ = depends_on_time_ || c.variable == 3;
      ++depth;
    } else {
      if (s.x.empty()) {
        const auto& all = operations();
        auto found = all.find({s.symbol, s.takes});
        if (found == all.end()) found = all.find({s.symbol, -1});
        if (found == all.end()) throw input_error("a formula has no function \"" + s.symbol + "\"");
        c.apply = found->second;
      } else if (s.takes != 1 || s.x.size() != s.y.size()) {
        throw input_error("a table in a formula takes one argument and has as many x as y");
      }
      if (depth < s.takes) throw input_error("a formula takes more values than it has");
      depth -= s.takes - 1;
    }
    depth_ = std::max(depth_, depth);
    program_.push_back(std::move(c));
  }
  if (depth != 1) throw input_error("a formula leaves " + std::to_string(depth) + " values");
}

void formula::evaluate(std::span<const double> x, double y, double z, double t, std::span<double> out) const {
  const std::size_t n = x.size();
  std::vector<double> stack(std::size_t(std::max(depth_, 1)) * n);
  double* top = stack.data();  // behind the last row
  for (const compiled& c : program_) {
    if (c.takes == 0) {
      if (c.variable == 0)
        std::ranges::copy(x, top);
      else
        std::fill_n(top, n, c.variable < 0 ? c.number : c.variable == 1 ? y : c.variable == 2 ? z : t);
      top += n;
      continue;
    }
    double* const first = top - std::size_t(c.takes) * n;
    if (!c.apply) {
      for (std::size_t i = 0; i < n; ++i) first[i] = of_table(c.x, c.y, first[i]);
    } else if (c.takes <= 2 || c.apply == choose) {
      c.apply(first, n);
    } else {  // of many, from the last pair on
      for (int k = c.takes - 2; k >= 0; --k) c.apply(first + std::size_t(k) * n, n);
    }
    top = first + n;
  }
  std::copy_n(stack.data(), program_.empty() ? 0 : n, out.data());
  if (program_.empty()) std::ranges::fill(out, 0.0);
}

}  // namespace plaq::pic
