#include "plaq/dca/measure/correlations.hpp"

#include <algorithm>

#include "plaq/base/error.hpp"

namespace plaq::dca::measures {

void measurement::flush(std::span<double> out) {
  check(out.size() == sum_.size(), "measurement: flush into an array of another size");
  for (std::size_t i = 0; i < sum_.size(); ++i) out[i] += sum_[i];
  std::ranges::fill(sum_, 0.);
}

void density::accumulate(const green_at_times& g, double weight) {
  const double each = weight / g.points();
  last_ = 0;
  for (int point = 0; point < g.points(); ++point) last_ += each * (g.occupation(0, point) + g.occupation(1, point));
  sum_[0] += last_;
}

void double_occupancy::accumulate(const green_at_times& g, double weight) {
  const double each = weight / g.points();
  last_ = 0;
  for (int point = 0; point < g.points(); ++point) last_ += each * g.occupation(0, point) * g.occupation(1, point);
  sum_[0] += last_;
}

template <two_point Operator>
void equal_time_correlation<Operator>::accumulate(const green_at_times& g, double weight) {
  const double each = weight / g.points();
  // The terms are rounded before they are added; those of the spin by R are not, where the processor has FMA. Results
  // keep their bits by that.
  terms_.resize(std::size_t(g.points() * g.sites()));
  double* term = terms_.data();
  g.for_each_pair(true, [&](int row, int column, int) { *term++ = each * g.product(Operator, row, column); });
  square_ = 0;
  for (const double t : terms_) square_ += t;
  term = terms_.data();
  g.for_each_pair(true, [&](int row, int column, int R) {
    if constexpr (Operator == two_point::spin)
      sum_[R] += each * g.product(Operator, row, column);
    else
      sum_[R] += *term++;
  });
}

template <two_point Operator>
void static_correlation<Operator>::accumulate(const green_at_times& g, double weight) {
  constexpr int times = green_at_times::times;
  const double each = weight * g.beta() / (times * (times - 1) * g.sites());
  g.for_each_pair(false, [&](int row, int column, int R) { sum_[R] += each * g.product(Operator, row, column); });
}

void equal_time_green::accumulate(const green_at_times& g, double weight) {
  const double each = weight / g.points();
  g.for_each_pair(true,
                  [&](int row, int column, int R) { sum_[R] += each * 0.5 * (g(0, row, column) + g(1, row, column)); });
}

template class equal_time_correlation<two_point::spin>;
template class equal_time_correlation<two_point::charge>;
template class static_correlation<two_point::spin>;
template class static_correlation<two_point::charge>;

}  // namespace plaq::dca::measures
