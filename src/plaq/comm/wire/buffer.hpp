// Buffers: ranges of values that travel as bytes.
#pragma once
#include <ranges>
#include <type_traits>

namespace plaq::comm {

/// Contiguous range of values that travel as bytes: vector, array, span.
template <class R>
concept buffer = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                 std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;

/// Buffer that outlives the call: a span, or a variable that owns its values.
template <class R>
concept lasting_buffer = buffer<R> && std::ranges::borrowed_range<R>;

}  // namespace plaq::comm
