// The sum whose order is the pieces' order: the same bits for any number of ranks.
#include <algorithm>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/communicator.hpp"

namespace plaq::comm {

namespace {

constexpr int ordered_sum_tag = last_tag + 2;
// Long enough for bandwidth, short enough that all ranks work at once on a long array.
constexpr std::size_t segment_bytes = std::size_t(1) << 20;

/// What every rank tells about each of its pieces; the first entry of a rank holds the length of its sum.
struct entry {
  std::int64_t index;
  std::uint64_t length;
};

/// (index, owner) of all pieces in the order of summation. The table is the same on all ranks, and so are the
/// errors.
std::vector<std::pair<std::int64_t, int>> order_of(const gathered<entry>& table, int ranks) {
  const auto length = table.from(0)[0].length;
  std::vector<std::pair<std::int64_t, int>> order;
  for (int r = 0; r < ranks; ++r) {
    for (const auto& e : table.from(r))
      if (e.length != length)
        throw input_error("ordered_sum: an array of rank " + std::to_string(r) + " has " +
                          std::to_string(e.length) + " values, the sum on rank 0 has " + std::to_string(length));
    for (const auto& e : table.from(r).subspan(1)) order.emplace_back(e.index, r);
  }
  if (order.empty()) throw input_error("ordered_sum: no rank has a piece");
  std::ranges::sort(order);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i].first == order[i - 1].first)
      throw input_error("ordered_sum: piece " + std::to_string(order[i].first) + " is there twice (ranks " +
                        std::to_string(order[i - 1].second) + " and " + std::to_string(order[i].second) + ")");
  return order;
}

}  // namespace

template <reducible T>
void communicator::ordered_sum(std::span<const piece<T>> mine, std::span<T> sum) const {
  std::vector<piece<T>> pieces(mine.begin(), mine.end());
  std::ranges::sort(pieces, {}, &piece<T>::index);
  std::vector<entry> entries{{0, sum.size()}};
  for (const auto& p : pieces) entries.push_back({p.index, p.values.size()});
  const auto order = order_of(all_gather(entries), size());

  // Segment by segment: while the next owner adds to this one, the present owner is at the segment after it. All
  // ranks go through (segment, piece) in the same order, so each message waits only for earlier ones: no deadlock.
  const std::size_t step = segment_bytes / sizeof(T);
  for (std::size_t begin = 0; begin < sum.size(); begin += step) {
    const auto part = sum.subspan(begin, std::min(step, sum.size() - begin));
    auto next = pieces.begin();
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].second != rank()) continue;
      const T* x = (next++)->values.data() + begin;
      if (i == 0) {
        std::copy_n(x, part.size(), part.begin());
      } else {
        if (const int from = order[i - 1].second; from != rank())
          below_->receive(std::as_writable_bytes(part), from, ordered_sum_tag);
        for (std::size_t j = 0; j < part.size(); ++j) part[j] += x[j];
      }
      if (i + 1 < order.size() && order[i + 1].second != rank())
        below_->send(std::as_bytes(part), order[i + 1].second, ordered_sum_tag);
    }
  }
  broadcast(sum, order.back().second);
}

template void communicator::ordered_sum(std::span<const piece<std::int32_t>>, std::span<std::int32_t>) const;
template void communicator::ordered_sum(std::span<const piece<std::int64_t>>, std::span<std::int64_t>) const;
template void communicator::ordered_sum(std::span<const piece<std::uint64_t>>, std::span<std::uint64_t>) const;
template void communicator::ordered_sum(std::span<const piece<float>>, std::span<float>) const;
template void communicator::ordered_sum(std::span<const piece<double>>, std::span<double>) const;
template void communicator::ordered_sum(std::span<const piece<std::complex<float>>>,
                                        std::span<std::complex<float>>) const;
template void communicator::ordered_sum(std::span<const piece<std::complex<double>>>,
                                        std::span<std::complex<double>>) const;

}  // namespace plaq::comm
