// Back ends of this binary, and the choice between them at run time.
#pragma once
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plaq/task/fiber.hpp"
#ifdef PLAQ_WITH_HPX
#include "plaq/task/hpx.hpp"
#endif
#include "plaq/task/os.hpp"

namespace plaq::task {

#ifdef PLAQ_WITH_HPX
/// Back ends of this binary; the first is the default.
using known_backends = std::tuple<fiber, os, hpx>;
#else
/// Back ends of this binary; the first is the default.
using known_backends = std::tuple<fiber, os>;
#endif

/// Names of the back ends.
std::vector<std::string> backends();

namespace detail {
[[noreturn]] void unknown_backend(std::string_view name);
}

/// Calls `f.operator()<Backend>()` for the back end of this name. f returns the same type for every back end.
///
/// @pre the name is one of backends(), else input_error
template <class F>
auto of_backend(std::string_view name, F&& f) -> decltype(f.template operator()<fiber>()) {
  using result = decltype(f.template operator()<fiber>());
  auto search = [&]<class First, class... Rest>(auto& self, std::tuple<First, Rest...>*) -> result {
    if (name == First::name()) return f.template operator()<First>();
    if constexpr (sizeof...(Rest) > 0)
      return self(self, static_cast<std::tuple<Rest...>*>(nullptr));
    else
      detail::unknown_backend(name);
  };
  return search(search, static_cast<known_backends*>(nullptr));
}

/// Makes a pool of the named back end, calls f(pool), and waits for the pool's tasks before it returns the result. f is
/// a generic callable that returns the same type for every back end.
///
/// @pre the name is one of backends(), else input_error
template <class F>
auto with_backend(std::string_view name, const options& given, F&& f) -> std::invoke_result_t<F&, fiber::pool&> {
  return of_backend(name, [&]<class Backend>() -> std::invoke_result_t<F&, fiber::pool&> {
    typename Backend::pool pool(given);
    return f(pool);
  });
}

}  // namespace plaq::task
