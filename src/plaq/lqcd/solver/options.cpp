#include "plaq/lqcd/solver/options.hpp"

#include <cstdio>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

std::string solver_result::to_string() const {
  char text[160];
  const char* ending = reason == stop_reason::converged ? "converged"
                       : reason == stop_reason::stalled ? "stalled"
                                                        : "reached the limit of steps";
  std::snprintf(text, sizeof text, "%s after %d steps and %d updates: |eta - M psi|/|eta| = %.3g", ending, steps,
                updates, residual);
  return text;
}

void check_options(const solver_options& options) {
  if (!(options.residual > 0)) throw input_error("a solver's residual must be positive");
}

}  // namespace plaq::lqcd
