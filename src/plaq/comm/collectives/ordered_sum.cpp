// Sum in the order of pieces: bitwise identical for any number of ranks.
#include <algorithm>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"

namespace plaq::comm {

namespace {

// Long enough for bandwidth, short enough that all ranks work at once on a long array.
constexpr std::size_t segment_bytes = std::size_t(1) << 20;

/// Entry of a piece in the table of all ranks; the first entry of a rank has the length of its sum.
struct entry {
  std::int64_t index;
  std::uint64_t length;
};

/// Returns (index, owner) of all pieces in the order of summation. The table is the same on all ranks, and so are the
/// errors.
std::vector<std::pair<std::int64_t, int>> order_of(const gathered<entry>& table, int ranks) {
  const auto length = table.from(0)[0].length;
  std::vector<std::pair<std::int64_t, int>> order;
  for (int r = 0; r < ranks; ++r) {
    for (const auto& e : table.from(r))
      if (e.length != length)
        throw input_error("ordered_sum: an array of rank " + std::to_string(r) + " has " + std::to_string(e.length) +
                          " values, the sum on rank 0 has " + std::to_string(length));
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

/// Neighbours in the order of summation on one rank: its pieces first ... end - 1.
struct stretch {
  std::size_t first, end;
  int from, to;  ///< ranks with the sum before and after, -1: none
};

std::vector<stretch> runs_of(const std::vector<std::pair<std::int64_t, int>>& order, int rank) {
  std::vector<stretch> runs;
  std::size_t own = 0;
  for (std::size_t i = 0, next = 0; i < order.size(); i = next) {
    while (next < order.size() && order[next].second == order[i].second) ++next;
    if (order[i].second != rank) continue;
    runs.push_back(
        {own, own + next - i, i == 0 ? -1 : order[i - 1].second, next == order.size() ? -1 : order[next].second});
    own += next - i;
  }
  return runs;
}

}  // namespace

template <reducible T>
void collectives::ordered_sum(std::span<const piece<T>> own, std::span<T> sum) {
  std::vector<piece<T>> pieces(own.begin(), own.end());
  std::ranges::sort(pieces, {}, &piece<T>::index);
  std::vector<entry> entries{{0, sum.size()}};
  for (const auto& p : pieces) entries.push_back({p.index, p.values.size()});
  const auto order = order_of(all_gather_any(entries), size());
  const auto runs = runs_of(order, rank());

  // Segment by segment: while the next owner adds to this one, the present owner is at the segment after it. All
  // ranks go through (segment, stretch) in the same order, so each message waits only for earlier ones: no deadlock.
  // The addends are not contiguous: number r of the input stands for the pieces of stretch r.
  program steps;
  const std::size_t bytes = sum.size_bytes();
  for (std::size_t begin = 0; begin < bytes; begin += segment_bytes) {
    const location part{memory::output, begin};
    const std::size_t n = std::min(segment_bytes, bytes - begin);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (runs[r].from >= 0) steps.receive(runs[r].from, part, n);
      steps.combine(part, part, {memory::input, r}, n);
      if (runs[r].to >= 0) steps.send(runs[r].to, part, n);
    }
  }
  const std::vector<std::byte> numbers(runs.size());
  const auto add = [&](std::byte* to, const std::byte*, const std::byte* number, std::size_t n) {
    const stretch& r = runs[std::size_t(number - numbers.data())];
    const auto part = std::span(reinterpret_cast<T*>(to), n / sizeof(T));
    const std::size_t begin = std::size_t(part.data() - sum.data());
    std::size_t i = r.first;
    if (r.from < 0) std::ranges::copy(pieces[i++].values.subspan(begin, part.size()), part.begin());
    for (; i < r.end; ++i)
      for (std::size_t j = 0; j < part.size(); ++j) part[j] += pieces[i].values[begin + j];
  };
  static const trace::label name("ordered_sum");
  active_->run({name,
                std::make_shared<const schedule>(std::move(steps).finish()),
                numbers,
                std::as_writable_bytes(sum),
                add,
                {},
                {"ordered_sum", bytes, 0, sizeof(T) << 1 | 1}});
  broadcast(sum, order.back().second);
}

template void collectives::ordered_sum(std::span<const piece<std::int32_t>>, std::span<std::int32_t>);
template void collectives::ordered_sum(std::span<const piece<std::int64_t>>, std::span<std::int64_t>);
template void collectives::ordered_sum(std::span<const piece<std::uint64_t>>, std::span<std::uint64_t>);
template void collectives::ordered_sum(std::span<const piece<float>>, std::span<float>);
template void collectives::ordered_sum(std::span<const piece<double>>, std::span<double>);
template void collectives::ordered_sum(std::span<const piece<std::complex<float>>>, std::span<std::complex<float>>);
template void collectives::ordered_sum(std::span<const piece<std::complex<double>>>, std::span<std::complex<double>>);

}  // namespace plaq::comm
