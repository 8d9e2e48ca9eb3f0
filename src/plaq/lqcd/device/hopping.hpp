// Hopping matrix of one gauge field on a device.
#pragma once
#include <array>
#include <complex>
#include <functional>

#include "plaq/lqcd/device/half_field.hpp"
#include "plaq/lqcd/device/hop.hpp"
#include "plaq/lqcd/dirac/wilson.hpp"

namespace plaq::lqcd::device {

/// Links of a gauge field on a whole lattice, in the memory of a device. Lower precisions are made when first used.
class hopping {
 public:
  /// Returns U_mu at a site, with its phase, row by row.
  using link_function = std::function<std::array<std::complex<double>, 9>(const coordinates&, int mu)>;

  /// Takes links of SU(3) times a phase, the same on all sites, whose third power is link_determinants[mu].
  hopping(workers& by, const coordinates& extents, const link_function& link,
          const std::array<std::complex<double>, 4>& link_determinants, gpu::device where);
  /// Takes those of an operator. input_error for one on several ranks.
  hopping(const wilson<double>& M, gpu::device where);

  /// Kernel (hop.hpp) that computes out, of `parity`, from in; its other options are the caller's.
  template <class S, class R = S>
  hop<S, R> kernel(const half_field<R>& out, const half_field<S>& in, int parity, bool dagger = false);

  gpu::device where() const { return where_; }
  const coordinates& extents() const { return extents_; }
  const half_lattice& lattice() const { return lattice_; }
  int sites() const { return lattice_.sites(); }
  /// Sets the extents of tiles (half_lattice), of as many sites as a block has threads at most. They change the order
  /// of sums, thus bits of norms, and speed.
  void set_tiles(const coordinates& most);

  static constexpr coordinates tile{2, 2, 2, 16};  ///< extents at first

 private:
  template <class S>
  const link_block<S>* links(int parity);
  template <class S>
  std::array<gpu::memory, 2>& memory_of();

  gpu::device where_;
  coordinates extents_;
  half_lattice lattice_;
  std::array<std::complex<double>, 4> determinants_;
  std::array<gpu::memory, 2> in_double_, in_single_, in_half_;
};

}  // namespace plaq::lqcd::device
