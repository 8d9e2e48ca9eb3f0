// Fields of aggregates: where they are, and whether one is a pointer. A language without reflection tells it by what
// can initialise them.
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace plaq::elements {

/// Place of a field in its object, in bytes.
struct field {
  std::size_t begin, size;
};

namespace detail {

/// Initialises a field of any type; notes its size and alignment.
template <class T>
struct any_field {
  std::vector<std::pair<std::size_t, std::size_t>>* sizes = nullptr;
  template <class U>
    requires(!std::same_as<U, T> && std::default_initializable<U>)
  operator U() const {  // NOLINT: implicit by design
    if (sizes) sizes->emplace_back(sizeof(U), alignof(U));
    return U{};
  }
};

template <class T>
inline constexpr bool refers = std::is_pointer_v<T> || std::is_reference_v<T>;
template <class T, std::size_t N>
inline constexpr bool refers<std::span<T, N>> = true;
template <class C, class Traits>
inline constexpr bool refers<std::basic_string_view<C, Traits>> = true;
template <class T>
inline constexpr bool refers<std::reference_wrapper<T>> = true;

template <class T>
consteval bool has_pointer();

/// Initialises a field that neither is a pointer nor has one.
template <class T>
struct field_by_value {
  template <class U>
    requires(!std::same_as<U, T> && !has_pointer<U>())
  operator U() const;  // NOLINT: implicit by design
  template <class U>   // deleted, so that the fields of U are not initialised one by one instead
    requires(!std::same_as<U, T> && has_pointer<U>())
  operator U() const = delete;  // NOLINT: implicit by design
};

template <class T, class Field, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
  return requires { T{(void(I), std::declval<const Field&>())...}; };
}

constexpr std::size_t most_fields = 48;

/// Number of fields, those of arrays one by one; or of the first ones, where another cannot be initialised so.
template <class T, class Field, std::size_t N = 1>
consteval std::size_t count_fields() {
  if constexpr (N > most_fields || !takes<T, Field>(std::make_index_sequence<N>()))
    return N - 1;
  else
    return count_fields<T, Field, N + 1>();
}

/// Whether a type is a pointer or a view, or an aggregate with one as far as its fields are known.
template <class T>
consteval bool has_pointer() {
  if constexpr (refers<T>)
    return true;
  else if constexpr (std::is_array_v<T>)
    return has_pointer<std::remove_all_extents_t<T>>();
  else if constexpr (std::is_class_v<T> && std::is_aggregate_v<T> && std::is_trivially_copyable_v<T>)
    return count_fields<T, any_field<T>>() > count_fields<T, field_by_value<T>>();
  else
    return false;
}

}  // namespace detail

/// Whether T is, or as an aggregate has, a pointer or a view of other memory.
template <class T>
inline constexpr bool has_pointer = detail::has_pointer<T>();

/// Places of the fields of an aggregate, or of those before the first whose type does not tell. Empty where the layout
/// is not that of the fields in a row: with bases, bit fields or alignments of one's own.
template <class T>
  requires std::is_aggregate_v<T>
std::vector<field> fields_of() {
  constexpr std::size_t n = detail::count_fields<T, detail::any_field<T>>();
  std::vector<std::pair<std::size_t, std::size_t>> sizes;
  const detail::any_field<T> any{&sizes};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
  [&]<std::size_t... I>(std::index_sequence<I...>) { (void)T{(void(I), any)...}; }(std::make_index_sequence<n>());
#pragma GCC diagnostic pop
  std::vector<field> out;
  std::size_t end = 0;
  for (const auto& [size, align] : sizes) {
    const std::size_t begin = (end + align - 1) / align * align;
    out.push_back({begin, size});
    end = begin + size;
  }
  const std::size_t whole = (end + alignof(T) - 1) / alignof(T) * alignof(T);
  if (whole > sizeof(T)) out.clear();
  return out;
}

/// Returns a field of an object that none of the visited parts meets, with size 0 if there is none: one of `fields`, or
/// behind them bytes that are too many for the padding of an object of this alignment.
field forgotten(std::vector<field> visited, const std::vector<field>& fields, std::size_t size, std::size_t align);

}  // namespace plaq::elements
