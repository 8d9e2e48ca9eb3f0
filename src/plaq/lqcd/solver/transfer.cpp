#include "plaq/lqcd/solver/transfer.hpp"

#include "plaq/lqcd/solver/multigrid_kernel.hpp"

namespace plaq::lqcd {

transfer::transfer(std::shared_ptr<const aggregation> aggregates, int rows, int vectors)
    : aggregates_(std::move(aggregates)), rows_(rows), vectors_(vectors), V_(slots() * std::size_t(size_of_slot())) {}

std::pair<std::int64_t, std::int64_t> transfer::range(std::int64_t a, bool odd) const {
  const auto first = odd ? aggregates_->odd_slots(a) : aggregates_->slots(a);
  return {first, aggregates_->slots(a + 1) - first};
}

void transfer::set_column(context& ctx, int j, const std::vector<float>& numbers) {
  const std::int64_t n = vectors_, each = aggregates_->sites() * rows_;
  ctx.workers.parallel_for("test vectors", std::size_t(aggregates_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto i = std::int64_t(begin) * each; i < std::int64_t(end) * each; ++i)
      V_[2 * n * i + j] = numbers[2 * i], V_[2 * n * i + n + j] = numbers[2 * i + 1];
  });
}

void transfer::orthonormalise(context& ctx) {
  ctx.workers.parallel_for("orthonormalise", std::size_t(aggregates_->count()),
                           [&](std::size_t begin, std::size_t end) {
                             for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a)
                               lqcd::orthonormalise(vectors_, rows_ / 2, aggregates_->sites(),
                                                    V_.data() + aggregates_->slots(a) * size_of_slot());
                           });
}

coarse_vector transfer::restrict(context& ctx, const std::vector<float>& f, bool odd) const {
  coarse_vector out(aggregates_->count(), 2 * vectors_);
  ctx.workers.parallel_for("restrict", std::size_t(aggregates_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      const auto [first, count] = range(a, odd);
      restrict_to(vectors_, rows_ / 2, count, at(first), f.data() + first * rows_ * 2, out.row(a));
    }
  });
  return out;
}

void transfer::prolong(context& ctx, std::vector<float>& f, const coarse_vector& c, bool odd) const {
  ctx.workers.parallel_for("prolong", std::size_t(aggregates_->count()), [&](std::size_t begin, std::size_t end) {
    for (auto a = std::int64_t(begin); a < std::int64_t(end); ++a) {
      const auto [first, count] = range(a, odd);
      prolong_from(vectors_, rows_ / 2, count, at(first), c.row(a), f.data() + first * rows_ * 2);
    }
  });
}

}  // namespace plaq::lqcd
