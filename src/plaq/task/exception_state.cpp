#include "plaq/task/exception_state.hpp"

namespace plaq::task::detail {

exception_state exception_state::exchange(exception_state next) noexcept {
  static_assert(sizeof(exception_state) <= 2 * sizeof(void*));
  return std::exchange(*reinterpret_cast<exception_state*>(abi::__cxa_get_globals()), next);
}

}  // namespace plaq::task::detail
