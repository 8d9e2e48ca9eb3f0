#include "plaq/lqcd/solver/spinor_slots.hpp"

namespace plaq::lqcd {

spinor_slots::spinor_slots(std::shared_ptr<const site_layout> layout, const aggregation& aggregates)
    : layout_(std::move(layout)), slot_in_group_(std::size_t(layout_->groups() * layout_->lanes())) {
  const std::int64_t count = aggregates.count() * aggregates.sites();
  for (std::int64_t slot = 0; slot < count; ++slot) {
    locations_.push_back(layout_->locate(aggregates.site(slot)));
    slot_in_group_[locations_.back().group * layout_->lanes() + locations_.back().lane] = slot;
  }
}

void spinor_slots::gather(context& ctx, const spinors<float>& f, std::vector<float>& numbers) const {
  const int n = f.lanes();
  ctx.workers.parallel_for("gather", std::size_t(f.groups()), [&](std::size_t begin, std::size_t end) {
    std::array<float*, site_layout::max_lanes> to;
    for (std::size_t b = begin; b < end; ++b) {
      const float* from = f.data() + b * 24 * n;
      for (int l = 0; l < n; ++l) to[l] = numbers.data() + slot_in_group_[(f.first_group() + b) * n + l] * 24;
      for (int i = 0; i < 24; ++i)
        for (int l = 0; l < n; ++l) to[l][i] = from[i * n + l];
    }
  });
}

void spinor_slots::scatter(context& ctx, const std::vector<float>& numbers, spinors<float>& f) const {
  const int n = f.lanes();
  ctx.workers.parallel_for("scatter", std::size_t(f.groups()), [&](std::size_t begin, std::size_t end) {
    std::array<const float*, site_layout::max_lanes> from;
    for (std::size_t b = begin; b < end; ++b) {
      float* to = f.data() + b * 24 * n;
      for (int l = 0; l < n; ++l) from[l] = numbers.data() + slot_in_group_[(f.first_group() + b) * n + l] * 24;
      for (int i = 0; i < 24; ++i)
        for (int l = 0; l < n; ++l) to[i * n + l] = from[l][i];
    }
  });
}

}  // namespace plaq::lqcd
