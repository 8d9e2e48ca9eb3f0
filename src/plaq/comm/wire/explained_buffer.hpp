// What the compiler says of an argument that is no buffer.
#pragma once
#include "plaq/comm/wire/buffer.hpp"

namespace plaq::comm::detail {

template <bool lasts, class R>
concept fitting_buffer = buffer<R> && (!lasts || lasting_buffer<R>);

template <bool lasts, class R>
void explain_buffer() {
  constexpr bool is_buffer = buffer<R>, fits = fitting_buffer<lasts, R>;
  static_assert(is_buffer,
                "the argument is no buffer, that is, no contiguous range of trivially copyable values such as a "
                "std::vector<double>; one value x is passed as std::span(&x, 1)");
  static_assert(!is_buffer || fits,
                "the argument is no lasting_buffer: a variable or a std::span, which outlives the future");
}

}  // namespace plaq::comm::detail
