#include "plaq/task/caught.hpp"

namespace plaq::task::detail {

caught caught::exchange(caught next) noexcept {
  static_assert(sizeof(caught) <= 2 * sizeof(void*));
  return std::exchange(*reinterpret_cast<caught*>(abi::__cxa_get_globals()), next);
}

}  // namespace plaq::task::detail
