// One description of a type's parts for its size, for packing, for unpacking and for checkpoints.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <forward_list>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/collection/fields.hpp"
#include "plaq/comm/messages/packing.hpp"

namespace plaq {

class archive;

namespace elements {

/// Type with a member serialize(archive&).
template <class T>
concept serializes_itself = requires(T& value, archive& ar) { value.serialize(ar); };
/// Type that is copied byte by byte: trivially copyable, without serialize, no pointer or view, and without one in it.
template <class T>
concept plain = std::is_trivially_copyable_v<T> && !serializes_itself<T> && !has_pointer<T>;
/// std::vector, std::deque, std::list, std::string and the like.
template <class C>
concept sequence = requires(C& c, typename C::value_type value) {
  c.push_back(std::move(value));
  c.clear();
  c.size();
};
/// std::map, std::set and their relatives, ordered or not, with or without equal keys.
template <class C>
concept keyed = requires(C& c, typename C::value_type value) {
  typename C::key_type;
  c.emplace_hint(c.end(), std::move(value));
  c.clear();
  c.size();
};

/// Whether an archive can pack a T: see archive.
template <class T>
inline constexpr bool has_parts = plain<T> || serializes_itself<T>;
/// Whether an archive can pack a sequence, by its elements.
template <class C>
  requires(sequence<C> && !serializes_itself<C>)
inline constexpr bool has_parts<C> = has_parts<typename C::value_type>;
/// Whether an archive can pack a set or map, by its elements.
template <class C>
  requires(keyed<C> && !serializes_itself<C>)
inline constexpr bool has_parts<C> = has_parts<std::remove_const_t<typename C::value_type>>;
template <class T, class A>
inline constexpr bool has_parts<std::forward_list<T, A>> = has_parts<T>;
template <class T, std::size_t N>
inline constexpr bool has_parts<std::array<T, N>> = has_parts<T>;
template <class A, class B>
inline constexpr bool has_parts<std::pair<A, B>> = has_parts<std::remove_const_t<A>> && has_parts<B>;
template <class... T>
inline constexpr bool has_parts<std::tuple<T...>> = (has_parts<T> && ...);
template <class... T>
inline constexpr bool has_parts<std::variant<T...>> = ((has_parts<T> && std::default_initializable<T>) && ...);
template <class T>
inline constexpr bool has_parts<std::optional<T>> = has_parts<T>;
/// A class with virtual functions may be a derived one, which the archive cannot make.
template <class T>
inline constexpr bool has_parts<std::unique_ptr<T>> =
    has_parts<T> && std::default_initializable<T> && !std::is_polymorphic_v<T>;

/// Type that an archive can pack.
template <class T>
concept part = has_parts<T>;

}  // namespace elements

/// Visitor of the parts of a value: `void serialize(archive& ar) { ar(field, particles); }`. Parts are of plain types
/// (trivially copyable, no pointer in them), or strings, containers, pairs, tuples, variants, optionals and unique_ptrs
/// of such parts, or have serialize themselves. The parts are the same in every direction; a part that was read may
/// decide what follows. Unordered containers may come back in another order.
///
/// A field of an aggregate that serialize() does not visit is a runtime_failure when the first value is packed or put
/// in a collection, unless it is named by leaves_out().
class archive {
 public:
  /// Visits the parts, in this order.
  template <elements::part... Part>
  void operator()(Part&... parts) {
    ((saw(&parts, sizeof parts), one(parts)), ...);
  }
  /// Overload for parts of other types.
  template <class... Part>
    requires(!(elements::part<Part> && ...))
  void operator()(Part&...) {
    constexpr bool assigned = (!std::is_const_v<Part> && ...), packed = (elements::part<Part> && ...);
    static_assert(assigned,
                  "a part is const: void serialize(archive&) is no const function, as it also assigns the parts");
    static_assert(!assigned || packed,
                  "a part is neither trivially copyable without a pointer, nor a container of parts, nor has it "
                  "void serialize(archive&)");
  }
  /// Names fields that are no parts: after unpacking they are as in a new value.
  template <class... Field>
  void leaves_out(const Field&... fields) {
    (saw(&fields, sizeof fields), ...);
  }
  /// Whether the archive assigns the parts.
  bool unpacks() const { return from_; }

  /// Number of bytes of a packed value.
  template <class T>
  static std::size_t size(const T& value) {
    check_fields(value);
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
  /// Throws runtime_failure if serialize() forgets a field. Once for each type.
  template <class T>
  static void check_fields(const T& value) {
    if constexpr (elements::serializes_itself<T> && std::is_aggregate_v<T>) {
      static std::atomic<bool> checked{false};
      if (checked.load(std::memory_order_relaxed)) return;
      std::vector<elements::field> seen;
      archive ar;
      ar.seen_ = &seen;
      ar.object_ = reinterpret_cast<const std::byte*>(&value);
      ar.object_size_ = sizeof value;
      const_cast<T&>(value).serialize(ar);
      need_all(elements::forgotten(std::move(seen), elements::fields_of<T>(), sizeof(T), alignof(T)), typeid(T));
      checked = true;
    }
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

  void saw(const void* field, std::size_t size) {
    if (!seen_) return;
    const auto* at = static_cast<const std::byte*>(field);
    if (at >= object_ && at < object_ + object_size_) seen_->push_back({std::size_t(at - object_), size});
  }
  /// @pre Nothing is forgotten (runtime_failure, which names the type).
  static void need_all(const elements::field& forgotten, const std::type_info& type);

  template <elements::serializes_itself T>
  void one(T& part) {
    if (!from_ && !to_) check_fields(part);
    part.serialize(*this);
  }
  template <elements::plain T>
  void one(T& part) {
    bytes(&part, sizeof part);
  }
  template <elements::sequence C>
    requires(!elements::serializes_itself<C>)
  void one(C& part) {
    sequence(part);
  }
  template <elements::keyed C>
    requires(!elements::serializes_itself<C>)
  void one(C& part) {
    std::size_t n = part.size();
    one(n);
    if (!from_) {
      for (auto& value : part) one(const_cast<std::remove_const_t<typename C::value_type>&>(value));
      return;
    }
    part.clear();
    for (std::size_t i = 0; i < n; ++i) part.emplace_hint(part.end(), read<unkeyed<typename C::value_type>>());
  }
  template <class T, class A>
  void one(std::forward_list<T, A>& part) {
    std::vector<T> all;
    if (!from_) all.assign(std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
    sequence(all);
    part.assign(std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
  }
  template <class T, std::size_t N>
    requires(!elements::plain<std::array<T, N>>)
  void one(std::array<T, N>& part) {
    for (T& x : part) one(x);
  }
  template <class A, class B>
    requires(!elements::plain<std::pair<A, B>>)
  void one(std::pair<A, B>& part) {
    one(const_cast<std::remove_const_t<A>&>(part.first)), one(part.second);
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

  template <class... T>
    requires(!elements::plain<std::variant<T...>>)
  void one(std::variant<T...>& part) {
    std::size_t which = part.index();
    one(which);
    if (from_) {
      const auto make = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return ((which == I && (part.template emplace<I>(), true)) || ...);
      };
      if (!make(std::index_sequence_for<T...>())) throw runtime_failure("a packed variant has no such alternative");
    }
    std::visit([this](auto& value) { one(value); }, part);
  }
  template <class T>
  void one(std::unique_ptr<T>& part) {
    bool there = bool(part);
    one(there);
    if (from_) part = there ? std::make_unique<T>() : nullptr;
    if (part) one(*part);
  }

  /// Value of a container with keys, to be read: with a key that is not const.
  template <class T>
  struct unkeyed_of {
    using type = T;
  };
  template <class K, class V>
  struct unkeyed_of<std::pair<const K, V>> {
    using type = std::pair<K, V>;
  };
  template <class T>
  using unkeyed = typename unkeyed_of<T>::type;
  template <class T>
  T read() {
    T value{};
    one(value);
    return value;
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
    } else if constexpr (elements::plain<T> && std::contiguous_iterator<typename Sequence::iterator>) {
      if (from_) part.resize(need(n, sizeof(T)));
      bytes(part.data(), n * sizeof(T));
    } else {
      if (from_) part.clear();
      if (!from_)
        for (T& x : part) one(x);
      else
        for (std::size_t i = 0; i < n; ++i) {  // one by one: a damaged length allocates no memory
          part.emplace_back();
          one(part.back());
        }
    }
  }
  std::size_t need(std::size_t n, std::size_t each) const {
    if (n > from_->left() / each) (void)from_->next(from_->left() + 1);  // throws
    return n;
  }

  std::vector<elements::field>* seen_ = nullptr;  ///< parts that lie in the object that is checked
  const std::byte* object_ = nullptr;
  std::size_t object_size_ = 0;
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
