// Device where chains walk together: a GPU, or the host in its place.
//
// Experimental: docs/gpu.md says which kernels have run on a GPU. The tests run all of them on the host.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "plaq/dca/device/chain.hpp"
#include "plaq/dca/device/measurement_tables.hpp"
#include "plaq/dca/problem.hpp"
#include "plaq/gpu/devices.hpp"
#include "plaq/task/sync.hpp"

namespace plaq::dca::device {

/// Server of launches: tasks submit their chains and wait. A thread of its own launches one kernel for all waiting
/// chains, then one for those submitted meanwhile. A chain's result depends on its own state only, not on the others in
/// its launch.
class chain_device {
 public:
  /// Throws an input_error for moves without a kernel: charge worms, single precision.
  chain_device(const problem& p, gpu::device where);
  ~chain_device();
  chain_device(const chain_device&) = delete;

  const expansion& parameters() const { return problem_.model.parameters; }
  const walk_rules& rules() const { return rules_; }
  gpu::device where() const { return where_; }
  const measurement_tables& measured() const { return measured_; }

  /// Returns the bath of a chain; this object owns its numbers.
  bath_view bath(std::uint32_t number, double& g_equal);

  /// Advances a chain by one launch (advance.hpp); the calling task waits. Throws the error of the launch.
  void advance(chain& c);

 private:
  struct request {
    chain* work;
    bool done = false;
    std::exception_ptr error;
  };
  void serve();
  void launch(std::vector<request*>& batch);

  const problem problem_;
  gpu::device where_;
  walk_rules rules_;
  measurement_tables measured_;
  std::size_t fast_bytes_ = 0;  // of a chain
  gpu::memory records_;

  task::mutex mutex_;  // guards all members below
  task::condition_variable arrived_, completed_;
  std::map<const g0_table*, gpu::memory> tables_;
  std::vector<request*> waiting_;
  bool end_ = false;
  std::jthread server_;
};

}  // namespace plaq::dca::device
