// Beside MPI: a program lends an array to a collection for a while, and takes it back.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "plaq/collection/collection.hpp"

namespace plaq {

/// An array that its program has lent: the vector that it is made of is empty until the array goes back, so that
/// nobody looks at it meanwhile. What is read and what is written are separate. Move-only; an array that is not
/// given back, as after an error, goes back as it came.
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

/// Lends this rank's array, to make elements from lease.in(). The vector stays where it is, and empty, until to_mpi.
template <class V>
lease<V> from_mpi(std::vector<V>& array) {
  return lease<V>(array);
}

/// Collective: waits for all steps, brings every element home, has each write its part of the array, write(index,
/// value, out) in the order of indices, and gives the array back. What nobody writes stays as it was.
template <class T, class Index, class V, class Write>
void to_mpi(collection<T, Index>& of, lease<V>&& lent, Write write) {
  auto mine = std::move(lent);
  of.come_home();
  of.each_here([&](const Index& at, const T& value) { write(at, value, std::span<V>(mine.out_)); });
  *std::exchange(mine.owner_, nullptr) = std::move(mine.out_);
}

}  // namespace plaq
