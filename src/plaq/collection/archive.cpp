#include "plaq/collection/archive.hpp"

#include <cxxabi.h>

#include <cstdlib>

namespace plaq {

void archive::need_all(const elements::field& forgotten, const std::type_info& type) {
  if (forgotten.size == 0) return;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  throw runtime_failure("serialize() of " + std::string(status == 0 ? name.get() : type.name()) + " forgets " +
                        std::to_string(forgotten.size) + " bytes at byte " + std::to_string(forgotten.begin) +
                        ": visit that field, or name it by leaves_out()");
}

}  // namespace plaq
