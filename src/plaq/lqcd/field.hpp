// Numbers that belong to sites: spinors, links.
#pragma once
#include <sys/mman.h>

#include <complex>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/lqcd/layout.hpp"

namespace plaq::lqcd {

enum class sites { even, odd, all };

inline sites of_parity(int p) { return p ? sites::odd : sites::even; }

/// `Reals` numbers on each site: component after component those of all lanes, block after block, even blocks
/// first. A field may have one parity only. Fresh fields are zero.
template <class T, int Reals>
class field {
 public:
  using number = T;
  static constexpr int reals = Reals;

  explicit field(std::shared_ptr<const layout> where, lqcd::sites which = lqcd::sites::all)
      : layout_(std::move(where)), which_(which), memory_(allocate(bytes())) {
    std::memset(memory_.get(), 0, bytes());
  }
  field(const field& other) : layout_(other.layout_), which_(other.which_), memory_(allocate(bytes())) {
    std::memcpy(memory_.get(), other.memory_.get(), bytes());
  }
  field& operator=(const field& other) {
    check(same_places(other), "fields of different lattices or layouts");
    std::memcpy(memory_.get(), other.memory_.get(), bytes());
    return *this;
  }
  field(field&&) noexcept = default;
  field& operator=(field&&) noexcept = default;

  const layout& where() const { return *layout_; }
  const std::shared_ptr<const layout>& shared_layout() const { return layout_; }
  lqcd::sites which() const { return which_; }
  bool has(int parity) const { return which_ == lqcd::sites::all || which_ == of_parity(parity); }
  bool same_places(const auto& other) const {
    return layout_->on() == other.where().on() && layout_->lanes() == other.where().lanes() && which_ == other.which();
  }

  int lanes() const { return layout_->lanes(); }
  std::int64_t first_block() const { return which_ == lqcd::sites::odd ? layout_->half() : 0; }
  std::int64_t blocks() const { return which_ == lqcd::sites::all ? 2 * layout_->half() : layout_->half(); }
  std::size_t size() const { return std::size_t(blocks()) * Reals * lanes(); }

  T* data() { return memory_.get(); }
  const T* data() const { return memory_.get(); }
  /// Of all blocks of the lattice, those counted that this field does not have.
  T* block(std::int64_t b) { return data() + (b - first_block()) * Reals * lanes(); }
  const T* block(std::int64_t b) const { return data() + (b - first_block()) * Reals * lanes(); }
  T* of(int parity) { return block(parity * layout_->half()); }
  const T* of(int parity) const { return block(parity * layout_->half()); }

  /// Complex component i of a site of this rank, for who is in no hurry.
  std::complex<T> get(layout::place p, int i) const {
    const T* at = block(p.block) + 2 * i * lanes() + p.lane;
    return {at[0], at[lanes()]};
  }
  void set(layout::place p, int i, std::complex<T> z) {
    T* at = block(p.block) + 2 * i * lanes() + p.lane;
    at[0] = z.real(), at[lanes()] = z.imag();
  }

 private:
  struct free_memory {
    void operator()(T* p) const { std::free(p); }
  };
  static T* allocate(std::size_t bytes) {
    // Kernels go through many streams at once: on pages of 4 KiB they would wait for addresses.
    constexpr std::size_t large = std::size_t(2) << 20;
    const std::size_t page = bytes < large ? 64 : large, size = (bytes + page - 1) / page * page;
    void* p = std::aligned_alloc(page, size);
    if (!p) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
    if (page == large) ::madvise(p, size, MADV_HUGEPAGE);  // where it is refused all still works
#endif
    return static_cast<T*>(p);
  }
  std::size_t bytes() const { return size() * sizeof(T); }

  std::shared_ptr<const layout> layout_;
  lqcd::sites which_;
  std::unique_ptr<T, free_memory> memory_;
};

/// Spin s, colour c is component 3 s + c.
template <class T>
using spinors = field<T, 24>;
/// Row i, column j of the link ahead in direction mu is component 9 mu + 3 i + j.
template <class T>
using links = field<T, 72>;

/// Calls f(local coordinates, place) for all sites of this rank.
template <class F>
void each_site(const layout& where, F&& f) {
  for (std::int64_t b = 0; b < where.blocks(); ++b)
    for (int l = 0; l < where.lanes(); ++l) f(where.site(b, l), layout::place{b, l});
}

/// The same numbers in another layout or precision, each through `as`.
template <class To, class From, class As>
void copy(const From& from, To& to, As&& as) {
  static_assert(To::reals == From::reals);
  check(from.where().on() == to.where().on() && from.which() == to.which(), "fields of different lattices");
  if (from.lanes() == to.lanes()) {
    for (std::size_t i = 0; i < from.size(); ++i) to.data()[i] = as(from.data()[i]);
    return;
  }
  for (std::int64_t b = from.first_block(); b < from.first_block() + from.blocks(); ++b)
    for (int l = 0; l < from.lanes(); ++l) {
      const auto p = to.where().where(from.where().site(b, l));
      for (int i = 0; i < From::reals; ++i)
        to.block(p.block)[i * to.lanes() + p.lane] = as(from.block(b)[i * from.lanes() + l]);
    }
}
template <class To, class From>
void copy(const From& from, To& to) {
  copy(from, to, [](auto x) { return typename To::number(x); });
}

}  // namespace plaq::lqcd
