// A toy piece of work: particles of a patch that move at random.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "plaq/base/random.hpp"

namespace plaq::batch {

struct patch {
  int number = 0;
  int steps = 0;
  double sum = 0;
};

constexpr int last_step = 6;

/// Sums depend on their order.
inline void push(patch& p) {
  const stream_id stream{.seed = 11, .purpose = 1, .i = std::uint32_t(p.number), .l = std::uint64_t(p.steps)};
  for (std::uint64_t i = 0; i < 500; ++i) p.sum += unit_interval(random_words(stream, i)[0]) / (1 + p.number);
  ++p.steps;
}

inline std::vector<patch> fresh(int patches) {
  std::vector<patch> out(patches);
  for (int i = 0; i < patches; ++i) out[i].number = i;
  return out;
}

/// What a plain loop comes to, by number.
inline std::vector<double> in_a_loop(int patches) {
  std::vector<double> out;
  for (patch& p : fresh(patches)) {
    while (p.steps < last_step) push(p);
    out.push_back(p.sum);
  }
  return out;
}

inline std::vector<double> sums(std::vector<patch> patches) {
  std::ranges::sort(patches, {}, &patch::number);
  std::vector<double> out;
  for (const patch& p : patches) out.push_back(p.sum);
  return out;
}

}  // namespace plaq::batch
