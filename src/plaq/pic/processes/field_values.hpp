// Values of fields from outside the core.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/pic/patch.hpp"

namespace plaq::pic {

/// Returns three components of each field, one after the other. Throws input_error for another number of values.
template <class T>
std::vector<T> components(const char* function, int patch, std::size_t n,
                          std::initializer_list<std::span<const double>> of) {
  std::vector<T> out;
  for (const auto& field : of) {
    if (field.size() != 3 * n)
      throw input_error(std::string(function) + ": patch " + std::to_string(patch) + " needs 3 x " + std::to_string(n) +
                        " numbers of a field");
    out.insert(out.end(), field.begin(), field.end());
  }
  return out;
}
/// Writes E and B in a region.
template <class T>
void put_fields(const patch_grid& m, fields<T>& f, const region& r, const std::vector<T>& all) {
  const T* from = all.data();
  for (auto* field : {&f.e, &f.b})
    for (auto& component : *field) from = put(m, r, from, component);
}

}  // namespace plaq::pic
