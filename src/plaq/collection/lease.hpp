// Lease of an array of an MPI program to a collection.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "plaq/collection/collection.hpp"

namespace plaq {

/// Array lent to a collection. The vector that it comes from is empty until the array is returned, so that the program
/// cannot read it meanwhile. Input and output are separate. Move-only; the destructor returns the input unchanged if
/// to_mpi was not called, as after an error.
template <class V>
class [[nodiscard]] lease {
 public:
  lease(lease&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), in_(std::move(other.in_)), out_(std::move(other.out_)) {}
  ~lease() {
    if (owner_) *owner_ = std::move(in_);
  }
  std::span<const V> in() const { return in_; }

 private:
  template <class W>
  friend lease<W> from_mpi(std::vector<W>& array);
  template <class T, class Index, class W, class Write>
  friend void to_mpi(collection<T, Index>& of, lease<W>&& lent, Write write);

  explicit lease(std::vector<V>& array) : owner_(&array), in_(std::exchange(array, {})), out_(in_) {}

  std::vector<V>* owner_;
  std::vector<V> in_, out_;
};

/// Lends this rank's array, to make elements from lease.in(). The vector stays in place, and empty, until to_mpi.
template <class V>
lease<V> from_mpi(std::vector<V>& array) {
  return lease<V>(array);
}

/// Waits for all steps, moves every element home, calls write(index, value, out) for each in the order of indices, and
/// returns the array. What is not written keeps its value. Collective.
template <class T, class Index, class V, class Write>
void to_mpi(collection<T, Index>& of, lease<V>&& lent, Write write) {
  auto local = std::move(lent);
  of.come_home();
  of.each_local([&](const Index& at, const T& value) { write(at, value, std::span<V>(local.out_)); });
  *std::exchange(local.owner_, nullptr) = std::move(local.out_);
}

}  // namespace plaq
