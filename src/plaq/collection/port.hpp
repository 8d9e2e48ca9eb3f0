// Ports: types of messages between elements of a collection.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>

#include "plaq/collection/archive.hpp"
#include "plaq/collection/index.hpp"

namespace plaq {

namespace elements {

/// Number of messages that a step takes from a port.
template <class T, class Index>
struct takes {
  int port;
  std::size_t count;                                                 ///< for every element
  std::function<std::size_t(const T&, const Index&)> count_of = {};  ///< in place of count
};

/// Function that is called as f(arguments...). Shorter to explain than std::invocable.
template <class F, class... Arguments>
concept called_with = requires(F& f, Arguments&... arguments) { f(arguments...); };

/// Whether V is a std::optional.
template <class V>
inline constexpr bool is_optional = false;
template <class V>
inline constexpr bool is_optional<std::optional<V>> = true;
/// Type V itself.
template <class V>
struct optional_value {
  using type = V;
};
/// Type V without the std::optional.
template <class V>
struct optional_value<std::optional<V>> {
  using type = V;
};
/// V of std::optional<V>, or V itself.
template <class V>
using without_optional = typename optional_value<V>::type;

}  // namespace elements

template <class T, elements::index_type Index>
class collection;
template <class T, elements::index_type Index>
class element_context;
template <class T, elements::index_type Index>
class step_context;

/// Message of a port: the sending element and the value.
template <class Index, class V>
struct received {
  Index from;
  V value;
};

/// Handler of messages of type V to elements of a collection, with the priority of these messages. A copy is the same
/// handler.
template <class T, class Index, serializable V>
class handler {
 private:
  template <class, elements::index_type>
  friend class collection;
  template <class, elements::index_type>
  friend class element_context;
  handler(int number, int priority) : number_(number), priority_(priority) {}
  int number_, priority_;
};

/// Port for values of type V between elements of a collection. A copy is the same port.
template <class T, class Index, serializable V>
class port {
 public:
  using takes = elements::takes<T, Index>;
  /// For `each`: every element takes `count` messages in the step.
  takes of(std::size_t count) const { return {number_, count}; }
  /// For `each`: an element takes count(index) or count(value, index) messages, with its value after the previous step.
  template <class Count>
    requires std::invocable<const Count&, const Index&> || std::invocable<const Count&, const T&, const Index&>
  takes of(Count count) const {
    return {number_, 0, [count](const T& value, const Index& at) -> std::size_t {
              if constexpr (std::invocable<const Count&, const Index&>)
                return std::size_t(count(at));
              else
                return std::size_t(count(value, at));
            }};
  }

 private:
  template <class, elements::index_type>
  friend class collection;
  template <class, elements::index_type>
  friend class step_context;
  explicit port(int number) : number_(number) {}
  int number_;
};

}  // namespace plaq
