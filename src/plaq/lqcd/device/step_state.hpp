// Numbers of conjugate gradient that stay on the device from step to step.
#pragma once
#include "plaq/gpu/team.hpp"

namespace plaq::lqcd::device {

/// State of a sequence of steps, in units of conjugate_gradient.hpp.
struct step_state {
  double rr = 0;        ///< |r|^2 after the last step
  double previous = 0;  ///< the same before that step
  double alpha = 0, beta = 0;
  double distance = 0;  ///< square of the target residual, in units of the target's
  double stop_at = 0;   ///< distance at which steps end
  double least_rr = 0;  ///< |r|^2 at which steps end
  double square = 0;    ///< from units of r to units of the target
  bool direct = false;  ///< kind of the target residual
  bool last = false;    ///< the last step was reached
  bool ended = false;   ///< and completed: later launches of the sequence do nothing
  int steps = 0, most_steps = 0;
};

/// Computes the sum of n numbers; scratch has room for `lanes`.
template <class Team>
PLAQ_BY_TEAM double add_up(Team& team, const double* parts, int n, double* scratch) {
  const int rows = (n + gpu::lanes - 1) / gpu::lanes;
  team.sums(
      gpu::lanes, rows, [&](int i, int j, double sum) { return j * rows + i < n ? sum + parts[j * rows + i] : sum; },
      [&](int j, double sum) { scratch[j] = sum; });
  return team.sum(gpu::lanes, [&](int j, double sum) { return sum + scratch[j]; });
}

/// Size of a kernel of one block.
struct one_block {
  static constexpr int most_threads = 1024, blocks_at_once = 1;
  int blocks() const { return 1; }
  int threads() const { return most_threads; }
};

/// Kernel of one block that adds up `columns` arrays of n numbers.
struct total : one_block {
  const double* parts;
  int n, columns;
  double* out;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int, double* scratch) const {
    for (int c = 0; c < columns; ++c) {
      const double sum = add_up(team, parts + c * n, n, scratch);
      team.once([&] { out[c] = sum; });
    }
  }
};

/// Kernel of one block that computes alpha = |r|^2 / |M p|^2.
struct choose_alpha : one_block {
  const double* parts;
  int n;
  step_state* state;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int, double* scratch) const {
    if (state->last) return team.once([&] { state->ended = true; });
    const double pAp = add_up(team, parts, n, scratch);
    team.once([&] { state->alpha = state->rr / pAp; });
  }
};

/// Kernel of one block that computes |r|^2, beta, and whether the step is the last.
struct end_step : one_block {
  const double* parts;
  int n;
  step_state* state;

  template <class Team>
  PLAQ_BY_TEAM void operator()(Team& team, int, double* scratch) const {
    if (team.value([&] { return state->last; })) return;
    const double rr = add_up(team, parts, n, scratch);
    team.once([&] {
      step_state& s = *state;
      s.previous = s.rr, s.rr = rr, s.beta = rr / s.previous;
      ++s.steps;
      s.distance = s.direct ? s.distance - s.alpha * s.previous * s.square : rr * s.square;
      // Also where |r|^2 is not a number.
      s.last = !(rr > s.least_rr && s.distance > s.stop_at && s.steps < s.most_steps);
    });
  }
};

}  // namespace plaq::lqcd::device
