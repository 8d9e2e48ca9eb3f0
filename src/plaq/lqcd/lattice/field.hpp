// Fields of numbers on sites: spinors, links.
#pragma once
#include <complex>
#include <cstring>
#include <memory>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/lattice/field_memory.hpp"
#include "plaq/lqcd/lattice/layout.hpp"

namespace plaq::lqcd {

/// Subset of the sites that a field is defined on.
enum class sites { even, odd, all };

inline sites of_parity(int p) { return p ? sites::odd : sites::even; }

/// Field of `Reals` numbers on each site, [group][component][lane], even groups first. A field may have one parity
/// only. New fields are zero.
template <class T, int Reals>
class field {
 public:
  using number = T;
  static constexpr int reals = Reals;

  explicit field(std::shared_ptr<const site_layout> layout, lqcd::sites subset = lqcd::sites::all)
      : layout_(std::move(layout)), subset_(subset), memory_(allocate(bytes())) {
    std::memset(memory_.get(), 0, bytes());
  }
  field(const field& other) : layout_(other.layout_), subset_(other.subset_), memory_(allocate(bytes())) {
    std::memcpy(memory_.get(), other.memory_.get(), bytes());
  }
  field& operator=(const field& other) {
    check(same_sites(other), "fields of different lattices or layouts");
    std::memcpy(memory_.get(), other.memory_.get(), bytes());
    return *this;
  }
  field(field&&) noexcept = default;
  field& operator=(field&&) noexcept = default;

  const site_layout& layout() const { return *layout_; }
  const std::shared_ptr<const site_layout>& shared_layout() const { return layout_; }
  lqcd::sites subset() const { return subset_; }
  bool has(int parity) const { return subset_ == lqcd::sites::all || subset_ == of_parity(parity); }
  bool same_sites(const auto& other) const {
    return layout_->lattice() == other.layout().lattice() && layout_->lanes() == other.layout().lanes() &&
           subset_ == other.subset();
  }

  int lanes() const { return layout_->lanes(); }
  std::int64_t first_group() const { return subset_ == lqcd::sites::odd ? layout_->half() : 0; }
  std::int64_t groups() const { return subset_ == lqcd::sites::all ? 2 * layout_->half() : layout_->half(); }
  std::size_t size() const { return std::size_t(groups()) * Reals * lanes(); }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  /// Numbers of a group, which is counted among all groups of the layout.
  T* group(std::int64_t b) { return data() + (b - first_group()) * Reals * lanes(); }
  const T* group(std::int64_t b) const { return data() + (b - first_group()) * Reals * lanes(); }
  /// Numbers of a parity.
  T* of(int parity) { return group(parity * layout_->half()); }
  const T* of(int parity) const { return group(parity * layout_->half()); }

  /// Complex component i of a site of this rank: slow access, for tests and files.
  std::complex<T> get(site_layout::location p, int i) const {
    const T* at = group(p.group) + 2 * i * lanes() + p.lane;
    return {at[0], at[lanes()]};
  }
  void set(site_layout::location p, int i, std::complex<T> z) {
    T* at = group(p.group) + 2 * i * lanes() + p.lane;
    at[0] = z.real(), at[lanes()] = z.imag();
  }

 private:
  static auto allocate(std::size_t bytes) {
    return std::unique_ptr<T, free_memory>(static_cast<T*>(allocate_field(bytes)), free_memory{bytes});
  }
  std::size_t bytes() const { return size() * sizeof(T); }

  std::shared_ptr<const site_layout> layout_;
  lqcd::sites subset_;
  std::unique_ptr<T, free_memory> memory_;
};

/// Spinors: spin s, colour c is component 3 s + c.
template <class T>
using spinors = field<T, 24>;
/// Links: row i, column j of the link ahead in direction mu is component 9 mu + 3 i + j.
template <class T>
using links = field<T, 72>;

/// Calls f(local coordinates, location) for all sites of this rank.
template <class F>
void for_each_site(const site_layout& layout, F&& f) {
  for (std::int64_t b = 0; b < layout.groups(); ++b)
    for (int l = 0; l < layout.lanes(); ++l) f(layout.coordinates_of(b, l), site_layout::location{b, l});
}

}  // namespace plaq::lqcd
