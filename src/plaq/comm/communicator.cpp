#include "plaq/comm/communicator.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "plaq/base/error.hpp"
#include "plaq/comm/device_wire.hpp"
#include "plaq/comm/launcher.hpp"
#include "plaq/comm/presence.hpp"

namespace plaq::comm {

namespace {
constexpr int gather_tag = last_tag + 1;
}

communicator communicator::world(std::size_t longest_message) {
  const auto started = find_launch();
  if (started || mpi_is_running())
    if (auto below = mpi_transport(longest_message)) return communicator(std::move(below));
  check_world(1, library_version(), started, expected_ranks());
  return communicator(serial_transport());
}

communicator communicator::split(int color, int key) const {
  if (color < 0) throw input_error("split: the color must not be negative, it is " + std::to_string(color));
  return communicator(below_->split(color, key));
}

std::unique_ptr<wire> communicator::open_wire() const {
  return with_device_memory(below_->open_wire(), mpi_is_running() && takes_device_memory());
}

void communicator::abort(int code) const {
  presence::abandon();
  below_->abort(code);
  std::_Exit(code);
}

void communicator::need_rank(int root) const {
  if (root < 0 || root >= size())
    throw input_error("there is no rank " + std::to_string(root) + " among " + std::to_string(size()));
}

void communicator::need_peer(int peer, int tag) const {
  need_rank(peer);
  // A blocking message to oneself waits for ever.
  if (peer == rank()) throw input_error("rank " + std::to_string(peer) + " would talk to itself");
  if (tag < 0 || tag > last_tag)
    throw input_error("the tag " + std::to_string(tag) + " is not within 0 ... 30000");
}

void communicator::need_sum(operation op) {
  if (op != operation::sum) throw input_error("complex numbers have no order: all_reduce can only sum them");
}

std::vector<std::size_t> communicator::all_offsets(std::size_t mine) const {
  std::vector<std::uint64_t> sizes(size(), 0);
  sizes[rank()] = mine;
  all_reduce(sizes, operation::sum);
  std::vector<std::size_t> offsets(1, 0);
  for (const auto n : sizes) offsets.push_back(offsets.back() + n);
  return offsets;
}

void communicator::gather_bytes(std::span<const std::byte> mine, const std::vector<std::size_t>& offsets,
                                std::size_t width, std::span<std::byte> all, int root) const {
  if (rank() != root) return below_->send(mine, root, gather_tag);
  for (int r = 0; r < size(); ++r) {
    const auto slot = all.subspan(offsets[r] * width, (offsets[r + 1] - offsets[r]) * width);
    if (r != root)
      below_->receive(slot, r, gather_tag);
    else
      std::ranges::copy(mine, slot.begin());
  }
}

}  // namespace plaq::comm
