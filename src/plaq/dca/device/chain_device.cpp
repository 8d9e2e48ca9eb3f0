#include "plaq/dca/device/chain_device.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/dca/device/advance.hpp"
#include "plaq/dca/device/launch.hpp"

namespace plaq::dca::device {

static_assert(bath_view::terms == g0_table::terms);

namespace {
void advance_on_host(const walk_rules& rules, const measurement_rules& measured, chain* chains, int count) {
  gpu::serial_team team;
  for (int c = 0; c < count; ++c) advance(team, rules, measured, chains[c], {});
}
}  // namespace

chain_device::chain_device(const problem& p, gpu::device where) : problem_(p), where_(where), measured_(p, where) {
  if (p.moves.sweeps_between_charge_worms > 0 || p.moves.single_precision)
    throw input_error("chains on a device have neither charge worms nor single precision");
  const vertex_strength strength(parameters());
  rules_ = {.beta = parameters().beta,
            .K = parameters().K,
            .sites = parameters().sites,
            .strength = {strength(1, 1), strength(1, -1)},
            .block_length = p.moves.block_length,
            .proposals_per_sweep = p.moves.proposals_per_sweep,
            .sweeps_between_rebuilds = p.moves.sweeps_between_rebuilds,
            .sweeps_between_worms = p.moves.sweeps_between_worms,
            .longest_worm = p.moves.longest_worm};
  if (where.gpu != gpu::device::host) fast_bytes_ = gpu::find_devices().gpus.at(where.gpu).team_memory;
  server_ = std::jthread([this] { serve(); });
}

chain_device::~chain_device() {
  const std::lock_guard lock(mutex_);
  end_ = true;
  arrived_.notify_all();
}

bath_view chain_device::bath(std::uint32_t number, double& g_equal) {
  const auto& g0 = problem_.baths.empty() ? problem_.model.g0 : problem_.baths.at(number)->g0;
  const std::size_t coefficients = g0->coefficients().size() * sizeof(double);
  const std::size_t differences = g0->difference().size() * sizeof(int);
  const std::lock_guard lock(mutex_);
  gpu::memory& table = tables_[g0.get()];
  if (table.size() == 0) {
    table = gpu::memory(where_, coefficients + differences);
    table.put(0, g0->coefficients().data(), coefficients);
    table.put(coefficients, g0->difference().data(), differences);
  }
  g_equal = (*g0)(0, 0., 0, 0.);
  return {.beta = g0->beta(),
          .scale = g0->segments() / g0->beta(),
          .sites = g0->sites(),
          .segments = g0->segments(),
          .coefficients = reinterpret_cast<const double*>(table.data()),
          .difference = reinterpret_cast<const int*>(table.data() + coefficients)};
}

void chain_device::advance(chain& c) {
  request own{.work = &c, .error = {}};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&own);
  arrived_.notify_one();
  completed_.wait(lock, [&] { return own.done; });
  if (own.error) std::rethrow_exception(own.error);
}

void chain_device::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [&] { return end_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::vector<request*> batch = std::exchange(waiting_, {});
    lock.unlock();
    try {
      launch(batch);
    } catch (...) {
      for (request* v : batch) v->error = std::current_exception();
    }
    lock.lock();
    for (request* v : batch) v->done = true;
    completed_.notify_all();
  }
}

void chain_device::launch(std::vector<request*>& batch) {
  std::vector<chain> chains;
  for (const request* v : batch) chains.push_back(*v->work);
  const std::size_t bytes = chains.size() * sizeof(chain);
  if (records_.size() < bytes) records_ = gpu::memory(where_, bytes);
  records_.put(0, chains.data(), bytes);
  auto* const there = reinterpret_cast<chain*>(records_.data());
  if (where_.gpu == gpu::device::host)
    advance_on_host(rules_, measured_.rules(), there, int(chains.size()));
  else
    advance_on_gpu(where_.gpu, rules_, measured_.rules(), there, int(chains.size()), fast_bytes_);
  records_.get(0, chains.data(), bytes);
  for (std::size_t i = 0; i < chains.size(); ++i) *batch[i]->work = chains[i];
}

}  // namespace plaq::dca::device
