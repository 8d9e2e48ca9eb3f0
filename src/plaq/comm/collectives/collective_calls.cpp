#include "plaq/comm/collectives/collective_calls.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::comm {

described_call collective_calls::make_barrier() {
  return {{collective::barrier, 0, 1, 1, false, {}}, {}, {}, [](auto...) {}};
}

std::vector<std::size_t> collective_calls::first_bytes_of(const char* call, const std::vector<std::size_t>& counts,
                                                          std::size_t width) const {
  need_length(call, counts.size(), std::size_t(size()));
  std::vector<std::size_t> first{0};
  for (const auto n : counts) first.push_back(first.back() + n * width);
  return first;
}

std::vector<neighbour> collective_calls::blocks_for_all(const std::vector<std::size_t>& counts) const {
  need_length("all_to_all", counts.size(), std::size_t(size()));
  std::vector<neighbour> blocks;
  for (std::size_t r = 0; r < counts.size(); ++r) blocks.push_back({int(r), counts[r]});
  return blocks;
}

std::shared_ptr<const schedule> collective_calls::exchange_schedule(const std::vector<neighbour>& to,
                                                                    const std::vector<neighbour>& from,
                                                                    std::size_t width) const {
  constexpr std::size_t most = 8;
  auto found = std::ranges::find_if(
      kept_, [&](const kept_exchange& k) { return k.width == width && k.to == to && k.from == from; });
  if (found == kept_.end()) {
    auto todo = std::make_shared<const schedule>(make_exchange(rank(), size(), to, from, width));
    if (kept_.size() == most) kept_.pop_back();
    found = kept_.insert(kept_.end(), {to, from, width, std::move(todo)});
  }
  std::rotate(kept_.begin(), found, found + 1);
  return kept_.front().todo;
}

void collective_calls::need_length(const char* call, std::size_t has, std::size_t needs) {
  if (has != needs)
    throw input_error(std::string(call) + ": a buffer has " + std::to_string(has) + " values instead of " +
                      std::to_string(needs));
}

}  // namespace plaq::comm
