// Devices of a rank, and the choice of one for a chain.
#pragma once
#include <deque>
#include <mutex>
#include <vector>

#include "plaq/dca/device/chain_device.hpp"

namespace plaq::dca::device {

/// Returns the number of chains of a device at a time: gpu::teams_at_once for every multiprocessor, but no more than
/// fit the memory.
int chains_at_once(int multiprocessors, std::size_t memory_left, std::size_t bytes_of_chain);

/// Devices of a rank. A chain gets the device with the largest free share, so that a faster device runs more of them.
/// Its bits do not depend on the choice between equal devices.
class chain_devices {
 public:
  /// Plans for chains whose order is the number of proposals of a sweep; `ranks` of this machine share each device.
  /// Throws a runtime_failure where a device has no memory for one chain.
  chain_devices(const problem& p, const std::vector<gpu::device>& where, int ranks);

  bool empty() const { return devices_.empty(); }
  /// Number of chains at a time on all devices.
  int chains() const;

  /// Reservation of a device while a chain is advanced; there may be more reservations than chains().
  class reservation {
   public:
    explicit reservation(chain_devices& to);
    ~reservation();
    reservation(const reservation&) = delete;
    chain_device& operator*() const { return to_.devices_[at_].device; }

   private:
    chain_devices& to_;
    std::size_t at_;
  };

 private:
  struct entry {
    entry(const problem& p, gpu::device where, int chains) : device(p, where), chains(chains) {}
    chain_device device;
    int chains, running = 0;
  };
  std::mutex mutex_;
  std::deque<entry> devices_;
};

}  // namespace plaq::dca::device
