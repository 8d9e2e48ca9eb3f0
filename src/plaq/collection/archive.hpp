// One description of a type's parts for its size, for packing, for unpacking and for checkpoints.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/packing.hpp"

namespace plaq {

class archive;

namespace elements {

/// Type with a member serialize(archive&).
template <class T>
concept serializes_itself = requires(T& value, archive& ar) { value.serialize(ar); };
/// Type that is copied byte by byte: trivially copyable, no pointer, and without serialize.
template <class T>
concept plain = std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !serializes_itself<T>;

/// Whether an archive can pack a T: see archive.
template <class T>
inline constexpr bool has_parts = plain<T> || serializes_itself<T>;
template <class T>
inline constexpr bool has_parts<std::vector<T>> = has_parts<T>;
template <>
inline constexpr bool has_parts<std::string> = true;
template <class T, std::size_t N>
inline constexpr bool has_parts<std::array<T, N>> = has_parts<T>;
template <class A, class B>
inline constexpr bool has_parts<std::pair<A, B>> = has_parts<A> && has_parts<B>;
template <class... T>
inline constexpr bool has_parts<std::tuple<T...>> = (has_parts<T> && ...);
template <class T>
inline constexpr bool has_parts<std::optional<T>> = has_parts<T>;

/// Type that an archive can pack.
template <class T>
concept part = has_parts<T>;

}  // namespace elements

/// Visitor of the parts of a value: `void serialize(archive& ar) { ar(field, particles); }`. Parts are trivially
/// copyable, or strings, vectors, arrays, pairs, tuples and optionals of such parts, or have serialize themselves. The
/// parts are the same in every direction; a part that was read may decide what follows.
class archive {
 public:
  /// Visits the parts, in this order.
  template <elements::part... Part>
  void operator()(Part&... parts) {
    (one(parts), ...);
  }
  /// Whether the archive assigns the parts.
  bool unpacks() const { return from_; }

  /// Number of bytes of a packed value.
  template <class T>
  static std::size_t size(const T& value) {
    archive ar;
    ar.one(const_cast<T&>(value));  // which is only read
    return ar.bytes_;
  }
  /// Appends the packed value to `to`. Throws runtime_failure if its length is not size().
  template <class T>
  static void pack(const T& value, std::vector<std::byte>& to) {
    archive ar;
    const std::size_t size = archive::size(value), before = to.size();
    to.reserve(std::max(before + size, before + before / 2));
    ar.to_ = &to;
    ar.one(const_cast<T&>(value));
    if (to.size() - before != size)
      throw runtime_failure("serialize() packed " + std::to_string(to.size() - before) + " bytes, but counted " +
                            std::to_string(size));
  }
  /// Assigns the value from packed bytes. Throws runtime_failure if they end early.
  template <class T>
  static void unpack(T& value, comm::unpacker& from) {
    archive ar;
    ar.from_ = &from;
    ar.one(value);
  }

 private:
  void bytes(void* data, std::size_t n) {
    if (n == 0) return;
    if (from_) {
      std::memcpy(data, from_->next(n).data(), n);
    } else if (to_) {
      const auto* first = static_cast<const std::byte*>(data);
      to_->insert(to_->end(), first, first + n);
    } else {
      bytes_ += n;
    }
  }

  template <elements::serializes_itself T>
  void one(T& part) {
    part.serialize(*this);
  }
  template <elements::plain T>
  void one(T& part) {
    bytes(&part, sizeof part);
  }
  template <class T>
  void one(std::vector<T>& part) {
    sequence(part);
  }
  void one(std::string& part) { sequence(part); }
  template <class T, std::size_t N>
    requires(!elements::plain<std::array<T, N>>)
  void one(std::array<T, N>& part) {
    for (T& x : part) one(x);
  }
  template <class A, class B>
    requires(!elements::plain<std::pair<A, B>>)
  void one(std::pair<A, B>& part) {
    one(part.first), one(part.second);
  }
  template <class... T>
    requires(!elements::plain<std::tuple<T...>>)
  void one(std::tuple<T...>& part) {
    std::apply([&](T&... x) { (one(x), ...); }, part);
  }
  template <class T>
    requires(!elements::plain<std::optional<T>>)
  void one(std::optional<T>& part) {
    bool there = part.has_value();
    one(there);
    if (from_ && there) part.emplace();
    if (from_ && !there) part.reset();
    if (part) one(*part);
  }

  template <class Sequence>
  void sequence(Sequence& part) {
    using T = typename Sequence::value_type;
    std::size_t n = part.size();
    one(n);
    if constexpr (std::is_same_v<T, bool>) {
      if (from_) part.assign(need(n, 1), false);
      for (std::size_t i = 0; i < n; ++i) {
        bool x = part[i];
        one(x);
        part[i] = x;
      }
    } else if constexpr (elements::plain<T>) {
      if (from_) part.resize(need(n, sizeof(T)));
      bytes(part.data(), n * sizeof(T));
    } else {
      if (from_) part.clear();
      for (std::size_t i = 0; i < n; ++i) {  // one by one: a damaged length allocates no memory
        if (from_) part.emplace_back();
        one(part[i]);
      }
    }
  }
  std::size_t need(std::size_t n, std::size_t each) const {
    if (n > from_->left() / each) (void)from_->next(from_->left() + 1);  // throws
    return n;
  }

  std::size_t bytes_ = 0;
  std::vector<std::byte>* to_ = nullptr;
  comm::unpacker* from_ = nullptr;
};

/// Type that an archive can pack and unpack.
template <class T>
concept serializable = std::default_initializable<T> && std::movable<T> && elements::part<T>;

namespace elements {

/// Returns the value that `bytes` hold.
///
/// @pre They are a T packed by an archive, and nothing else (runtime_failure).
template <class T>
T unpack(std::span<const std::byte> bytes) {
  comm::unpacker from(bytes);
  T value{};
  archive::unpack(value, from);
  from.need_end();
  return value;
}

}  // namespace elements

/// Packing of types with serialize(), so that messengers send them.
template <elements::serializes_itself T>
  requires(!std::is_trivially_copyable_v<T>)
struct comm::packing<T> {
  static void write(const T& value, std::vector<std::byte>& to) { archive::pack(value, to); }
  static T read(comm::unpacker& from) {
    T value{};
    archive::unpack(value, from);
    return value;
  }
};

}  // namespace plaq
