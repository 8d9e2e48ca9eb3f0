#include "plaq/pic/processes/emission_laws.hpp"

#include <cmath>

namespace plaq::pic {

double flux_by_law(const emitter& e, double field, double coupling) {
  const double local = e.enhancement * std::fmax(field, 0);
  if (e.law == emission_law::richardson)
    return e.factor * std::exp(-(e.work - std::sqrt(coupling * local)) / e.temperature);
  const double f = std::fmin(coupling * local / (e.work * e.work), 1);
  if (!(f > 0)) return 0;
  const double v = 1 - f + f * std::log(f) / 6, t = 1 + f / 9 - f * std::log(f) / 18;
  return e.factor * local * local / (e.work * t * t) * std::exp(-e.exponent * v * std::pow(e.work, 1.5) / local);
}

}  // namespace plaq::pic
