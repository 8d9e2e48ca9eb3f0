// Spinors on the sites of one parity, in the memory of a device.
#pragma once
#include <cstddef>

#include "plaq/gpu/devices.hpp"
#include "plaq/lqcd/device/storage.hpp"
#include "plaq/lqcd/lattice/context.hpp"
#include "plaq/lqcd/lattice/field.hpp"

namespace plaq::lqcd::device {

/// Spinors on so many sites of a parity; not set at first.
template <class S>
class half_field {
 public:
  half_field() = default;
  half_field(gpu::device where, int sites)
      : sites_(sites), memory_(where, std::size_t(blocks_for(sites)) * sizeof(spinor_block<S>)) {}

  int sites() const { return sites_; }
  spinor_block<S>* data() const { return reinterpret_cast<spinor_block<S>*>(memory_.data()); }
  gpu::memory& memory() { return memory_; }
  const gpu::memory& memory() const { return memory_; }

 private:
  int sites_ = 0;
  gpu::memory memory_;
};

/// Copies the sites of a parity to a device or from there.
void copy_to_device(workers& by, const spinors<double>& from, int parity, half_field<double>& to);
void copy_from_device(workers& by, const half_field<double>& from, int parity, spinors<double>& to);

}  // namespace plaq::lqcd::device
