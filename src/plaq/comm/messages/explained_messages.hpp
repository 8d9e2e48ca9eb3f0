// Messages whose arguments do not fit: they do not compile, and the compiler says why in one line.
#pragma once
#include <cstdlib>
#include <type_traits>

#include "plaq/comm/messages/message.hpp"
#include "plaq/comm/messages/packing.hpp"
#include "plaq/comm/wire/explained_buffer.hpp"
#include "plaq/task/future.hpp"

namespace plaq::comm {

template <class T>
struct strided;

namespace detail {

template <class R>
inline constexpr bool travels = lasting_buffer<R>;
template <class T>
inline constexpr bool travels<strided<T>> = true;

}  // namespace detail

/// Overloads of the calls of a messenger for arguments that do not fit.
class explained_messages {
 public:
  template <class Wrong, class... Rest>
    requires(!detail::travels<Wrong> && !detail::travels<std::remove_cvref_t<Wrong>>)
  task::future<status> isend(Wrong&&, Rest&&...) {
    detail::explain_buffer<true, Wrong>();
    std::abort();
  }
  template <class Wrong, class... Rest>
    requires(!detail::travels<Wrong> && !detail::travels<std::remove_cvref_t<Wrong>>)
  task::future<status> irecv(Wrong&&, Rest&&...) {
    detail::explain_buffer<true, Wrong>();
    std::abort();
  }
  template <class Wrong, class... Rest>
    requires(!packable<Wrong>)
  task::future<status> isend_object(const Wrong&, Rest&&...) {
    constexpr bool packs = packable<Wrong>;
    static_assert(packs, "the type is not packable: it has no specialisation of comm::packing, or is a pointer");
    std::abort();
  }
};

}  // namespace plaq::comm
