#include "plaq/task/backends.hpp"

#include "plaq/base/error.hpp"

namespace plaq::task {

std::vector<std::string> backends() {
  return []<class... B>(std::tuple<B...>*) {
    return std::vector<std::string>{std::string(B::name())...};
  }(static_cast<known_backends*>(nullptr));
}

void detail::unknown_backend(std::string_view name) {
  std::string known;
  for (const std::string& b : backends()) known += (known.empty() ? "" : ", ") + b;
  throw input_error("unknown thread back end '" + std::string(name) + "'; this build has: " + known);
}

}  // namespace plaq::task
