// Chains that walk together on a device.
#pragma once
#include <cstdint>
#include <vector>

#include "plaq/dca/configuration.hpp"
#include "plaq/dca/device/chain.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/dca/sample.hpp"
#include "plaq/gpu/devices.hpp"

namespace plaq::dca::device {

/// The walks of dca::chain_walk in double precision, up to rounding; without charge worms. At the host place the
/// kernels run on the host.
class walks {
 public:
  /// Of the chains with these numbers, each in its own bath.
  walks(const problem& p, const std::vector<std::uint32_t>& chains, gpu::place where);

  /// Starts all walks anew: walk w from start[w], with the numbers of these streams.
  void begin(const std::vector<configuration>& start, const std::vector<stream_id>& proposals,
             const std::vector<stream_id>& worms);

  /// Makes so many sweeps more. Throws a runtime_failure where a weight is not finite or memory runs out.
  void sweeps(int count);

  int size() const { return int(chains_.size()); }
  /// Of walk w.
  configuration current(int w) const;
  const walk_state& state(int w) const { return chains_[w].state; }
  /// What measurements need of it.
  void fill(int w, sample& out) const;

  /// Vertices that every walk has room for; grows as it is needed.
  int capacity() const { return rules_.capacity; }

 private:
  // A walk's matrices and vertices, copied to the host.
  struct copied {
    std::vector<std::byte> hot;
    room in;
    configuration vertices;
  };
  copied copy_of(int w) const;
  void make_rooms(int capacity);
  void enlarge();

  expansion parameters_;
  gpu::place where_;
  walk_rules rules_;
  std::vector<chain> chains_;
  std::size_t hot_bytes_ = 0, cold_bytes_ = 0;
  gpu::memory tables_, rooms_, records_;
};

}  // namespace plaq::dca::device
