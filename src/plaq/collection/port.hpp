// What elements of a collection send to each other.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/index.hpp"

namespace plaq {

namespace elements {

/// How many messages of a port a step takes.
template <class T, class Index>
struct takes {
  int port;
  std::function<std::size_t(const T&, const Index&)> count;
};

}  // namespace elements

template <serializable T, elements::index_type Index>
class collection;
template <serializable T, elements::index_type Index>
class here;

/// What comes by a port, and who sent it.
template <class Index, class V>
struct received {
  Index from;
  V value;
};

/// A kind of message between elements of a collection, whose values are Vs. A copy stands for the same port.
template <class T, class Index, serializable V>
class port {
 public:
  using takes = elements::takes<T, Index>;
  /// For `each`: the step takes so many messages from every element that does it.
  takes of(std::size_t count) const {
    return {number_, [count](const T&, const Index&) { return count; }};
  }
  /// So many as count(index) says, or count(value, index), which looks at the element after the step before.
  template <class Count>
    requires std::invocable<const Count&, const Index&> || std::invocable<const Count&, const T&, const Index&>
  takes of(Count count) const {
    return {number_, [count](const T& value, const Index& at) -> std::size_t {
              if constexpr (std::invocable<const Count&, const Index&>)
                return std::size_t(count(at));
              else
                return std::size_t(count(value, at));
            }};
  }

 private:
  template <serializable, elements::index_type>
  friend class collection;
  template <serializable, elements::index_type>
  friend class here;
  explicit port(int number) : number_(number) {}
  int number_;
};

}  // namespace plaq
