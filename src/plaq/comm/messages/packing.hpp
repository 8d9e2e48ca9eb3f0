// Packing of values as bytes, for messages between machines of the same architecture.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"

namespace plaq::comm {

/// Reader of a packed message.
class unpacker {
 public:
  /// Reader from the first byte on; `bytes` outlive it.
  explicit unpacker(std::span<const std::byte> bytes) : left_(bytes) {}
  /// Returns the next n bytes. @pre There are as many (runtime_failure).
  std::span<const std::byte> next(std::size_t n) {
    if (n > left_.size()) throw runtime_failure("a packed object ends early: it was packed as another type");
    const auto some = left_.first(n);
    left_ = left_.subspan(n);
    return some;
  }
  /// Number of bytes that have not been read.
  std::size_t left() const { return left_.size(); }
  /// @pre All bytes have been read (runtime_failure).
  void need_end() const {
    if (!left_.empty()) throw runtime_failure("a packed object is too long: it was packed as another type");
  }

 private:
  std::span<const std::byte> left_;
};

/// Packing of a T as bytes. Specialise it for types of one's own:
///   static void write(const T&, std::vector<std::byte>& to);   // appends
///   static T read(unpacker& from);
template <class T>
struct packing;

/// Type of which packing<T> is defined: what messengers send as an object.
template <class T>
concept packable = requires(const T& value, std::vector<std::byte>& to, unpacker& from) {
  packing<T>::write(value, to);
  { packing<T>::read(from) } -> std::same_as<T>;
};

/// Returns the value that `bytes` hold. @pre They are a packed T (runtime_failure).
template <packable T>
T unpack(std::span<const std::byte> bytes) {
  unpacker from(bytes);
  T value = packing<T>::read(from);
  from.need_end();
  return value;
}

/// Packing of trivially copyable types: their bytes. Pointers are excluded.
template <class T>
  requires std::is_trivially_copyable_v<T> && (!std::is_pointer_v<T>)
struct packing<T> {
  static void write(const T& value, std::vector<std::byte>& to) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    to.insert(to.end(), bytes.begin(), bytes.end());
  }
  static T read(unpacker& from) {
    T value;
    std::memcpy(&value, from.next(sizeof(T)).data(), sizeof(T));
    return value;
  }
};

/// Packing of a sequence: its length, then the elements.
template <class Sequence>
struct packing_of_sequence {
  using element = typename Sequence::value_type;
  static constexpr bool at_once = std::is_trivially_copyable_v<element>;

  static void write(const Sequence& values, std::vector<std::byte>& to) {
    packing<std::size_t>::write(values.size(), to);
    if constexpr (at_once) {
      const auto bytes = std::as_bytes(std::span(values));
      to.insert(to.end(), bytes.begin(), bytes.end());
    } else {
      for (const auto& v : values) packing<element>::write(v, to);
    }
  }
  static Sequence read(unpacker& from) {
    const auto n = packing<std::size_t>::read(from);
    Sequence values;
    if constexpr (at_once) {
      if (n > from.left() / sizeof(element)) from.next(from.left() + 1);  // throws
      values.resize(n);
      if (n > 0) std::memcpy(values.data(), from.next(n * sizeof(element)).data(), n * sizeof(element));
    } else {
      for (std::size_t i = 0; i < n; ++i) values.push_back(packing<element>::read(from));
    }
    return values;
  }
};
/// Packing of vectors but those of bool: the length as std::size_t, then the elements.
template <class T>
  requires(!std::is_same_v<T, bool>)
struct packing<std::vector<T>> : packing_of_sequence<std::vector<T>> {};
/// Packing of strings: the length as std::size_t, then the characters.
template <>
struct packing<std::string> : packing_of_sequence<std::string> {};

/// Packing of pairs that are not trivially copyable: first, then second.
template <class A, class B>
  requires(!std::is_trivially_copyable_v<std::pair<A, B>>)
struct packing<std::pair<A, B>> {
  static void write(const std::pair<A, B>& value, std::vector<std::byte>& to) {
    packing<A>::write(value.first, to);
    packing<B>::write(value.second, to);
  }
  static std::pair<A, B> read(unpacker& from) {
    A first = packing<A>::read(from);
    return {std::move(first), packing<B>::read(from)};
  }
};

}  // namespace plaq::comm
