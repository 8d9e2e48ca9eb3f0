#include "plaq/dca/device/walks.hpp"

#include <algorithm>
#include <map>

#include "plaq/base/error.hpp"
#include "plaq/dca/device/launch.hpp"
#include "plaq/dca/device/walk.hpp"
#include "plaq/dca/fill.hpp"

namespace plaq::dca::device {

static_assert(bath_view::terms == g0_table::terms);

namespace {
// On the host the records and rooms are where kernels look for them.
void walk_here(const walk_rules& rules, chain* chains, int count, int until) {
  gpu::serial_team team;
  for (int c = 0; c < count; ++c) walk(team, rules, chains[c], chains[c].hot, until);
}
}  // namespace

walks::walks(const problem& p, const std::vector<std::uint32_t>& numbers, gpu::place where)
    : parameters_(p.model.parameters), where_(where), chains_(numbers.size()) {
  check(p.moves.sweeps_between_charge_worms == 0 && !p.moves.single_precision,
        "walks on a device have no charge worms and no single precision");
  const double gamma = parameters_.gamma();
  rules_ = {.beta = parameters_.beta,
            .K = parameters_.K,
            .sites = parameters_.sites,
            .strength = {vertex_strength(gamma, 1, 1), vertex_strength(gamma, 1, -1)},
            .block_length = p.moves.block_length,
            .proposals_per_sweep = p.moves.proposals_per_sweep,
            .sweeps_between_rebuilds = p.moves.sweeps_between_rebuilds,
            .sweeps_between_worms = p.moves.sweeps_between_worms,
            .longest_worm = p.moves.longest_worm,
            .capacity = 0};

  // Tables of baths, each of them once.
  std::map<const g0_table*, std::size_t> at;
  std::vector<const g0_table*> of_chain;
  std::size_t bytes = 0;
  std::vector<std::shared_ptr<const g0_table>> kept;
  for (const std::uint32_t number : numbers) {
    kept.push_back(p.of_chain(number).model.g0);
    const g0_table* g0 = of_chain.emplace_back(kept.back().get());
    if (at.try_emplace(g0, bytes).second)
      bytes += g0->coefficients().size() * sizeof(double) + (g0->difference().size() + 1) / 2 * 2 * sizeof(int);
  }
  tables_ = gpu::memory(where, bytes);
  for (const auto& [g0, offset] : at) {
    const std::size_t first = g0->coefficients().size() * sizeof(double);
    tables_.put(offset, g0->coefficients().data(), first);
    tables_.put(offset + first, g0->difference().data(), g0->difference().size() * sizeof(int));
  }
  for (std::size_t w = 0; w < numbers.size(); ++w) {
    const g0_table& g0 = *of_chain[w];
    const std::byte* table = tables_.data() + at[&g0];
    chains_[w].g0 = {.beta = g0.beta(),
                     .scale = g0.segments() / g0.beta(),
                     .sites = g0.sites(),
                     .segments = g0.segments(),
                     .coefficients = reinterpret_cast<const double*>(table),
                     .difference = reinterpret_cast<const int*>(table + g0.coefficients().size() * sizeof(double))};
    chains_[w].g_equal = g0(0, 0., 0, 0.);
  }
  records_ = gpu::memory(where, numbers.size() * sizeof(chain));
}

void walks::begin(const std::vector<configuration>& start, const std::vector<stream_id>& proposals,
                  const std::vector<stream_id>& worms) {
  check(start.size() == chains_.size() && proposals.size() == start.size() && worms.size() == start.size(),
        "walks: a start and two streams for each");
  int largest = 0;
  for (const configuration& c : start) largest = std::max(largest, int(c.vertices.size()));
  if (largest + rules_.block_length > rules_.capacity) make_rooms(largest + largest / 2 + rules_.block_length);

  for (int w = 0; w < size(); ++w) {
    copied to;
    to.hot.resize(hot_bytes_);
    cut_hot(to.in, to.hot.data(), rules_);
    const auto& vertices = start[w].vertices;
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const vertex& v = vertices[i];
      check(v.site >= 0 && v.site < parameters_.sites && v.tau >= 0 && v.tau < parameters_.beta &&
                (v.spin == 1 || v.spin == -1),
            "walks: a vertex lies outside the problem");
      to.in.site[i] = v.site;
      to.in.spin[i] = v.spin;
      to.in.tau[i] = v.tau;
      to.in.slot_of[i] = int(i);
    }
    rooms_.put(w * hot_bytes_, to.hot.data(), hot_bytes_);
    chains_[w].proposals = proposals[w];
    chains_[w].worms = worms[w];
    chains_[w].state = {};
    chains_[w].state.order = int(vertices.size());
  }
}

void walks::sweeps(int count) {
  if (chains_.empty()) return;
  const int until = chains_.front().state.sweeps + count;
  const std::size_t bytes = chains_.size() * sizeof(chain);
  for (;;) {
    records_.put(0, chains_.data(), bytes);
    auto* const records = reinterpret_cast<chain*>(records_.data());
    if (where_.gpu == gpu::place::host)
      walk_here(rules_, records, size(), until);
    else
      walk_on_gpu(where_.gpu, rules_, records, size(), until);
    records_.get(0, chains_.data(), bytes);
    bool complete = true;
    for (const chain& c : chains_) {
      if (c.state.how == outcome::not_finite) throw runtime_failure("walker: the weight is not finite");
      complete = complete && c.state.how == outcome::done;
    }
    if (complete) return;
    enlarge();
  }
}

void walks::make_rooms(int capacity) {
  rules_.capacity = (capacity + 15) / 16 * 16;
  room none;
  hot_bytes_ = cut_hot(none, nullptr, rules_);
  cold_bytes_ = cut_cold(none, nullptr, rules_);
  rooms_ = {};  // before the larger one
  rooms_ = gpu::memory(where_, chains_.size() * (hot_bytes_ + cold_bytes_));
  for (int w = 0; w < size(); ++w) {
    chains_[w].hot = rooms_.data() + w * hot_bytes_;
    chains_[w].cold = rooms_.data() + size() * hot_bytes_ + w * cold_bytes_;
  }
}

void walks::enlarge() {
  std::vector<copied> old;
  for (int w = 0; w < size(); ++w) old.push_back(copy_of(w));
  const int before = rules_.capacity;
  make_rooms(before + before / 2 + rules_.block_length);
  std::vector<std::byte> hot(hot_bytes_);
  room to;
  cut_hot(to, hot.data(), rules_);
  for (int w = 0; w < size(); ++w) {
    const room& from = old[w].in;
    const int k = chains_[w].state.order;
    for (int side = 0; side < 2; ++side)
      for (int j = 0; j < k; ++j)
        std::copy_n(from.n[side] + std::size_t(j) * before, k, to.n[side] + std::size_t(j) * rules_.capacity);
    std::copy_n(from.tau, k, to.tau);
    for (const auto& [a, b] : {std::pair(from.site, to.site), {from.spin, to.spin}, {from.slot_of, to.slot_of}})
      std::copy_n(a, k, b);
    rooms_.put(w * hot_bytes_, hot.data(), hot_bytes_);
  }
}

walks::copied walks::copy_of(int w) const {
  copied out;
  out.hot.resize(hot_bytes_);
  rooms_.get(w * hot_bytes_, out.hot.data(), hot_bytes_);
  cut_hot(out.in, out.hot.data(), rules_);
  for (int i = 0; i < chains_[w].state.order; ++i) {
    const int slot = out.in.slot_of[i];
    out.vertices.vertices.push_back({out.in.site[slot], out.in.spin[slot], out.in.tau[slot]});
  }
  out.vertices.sign = chains_[w].state.sign;
  return out;
}

configuration walks::current(int w) const { return copy_of(w).vertices; }

void walks::fill(int w, sample& out) const {
  const copied from = copy_of(w);
  dca::fill<double>(
      out, parameters_, from.vertices, [&](int i) { return from.in.slot_of[i]; },
      [&](int side, int slot) -> const double* { return from.in.n[side] + std::size_t(slot) * rules_.capacity; });
}

}  // namespace plaq::dca::device
