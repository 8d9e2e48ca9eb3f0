#include "plaq/collection/fields.hpp"

#include <algorithm>

namespace plaq::elements {

field forgotten(std::vector<field> visited, const std::vector<field>& fields, std::size_t size, std::size_t align) {
  std::ranges::sort(visited, {}, &field::begin);
  for (const field& f : fields) {
    const auto meets = [&](const field& v) { return v.begin < f.begin + f.size && f.begin < v.begin + v.size; };
    if (std::ranges::none_of(visited, meets)) return f;
  }
  std::size_t end = fields.empty() ? 0 : fields.back().begin + fields.back().size;
  visited.push_back({size, 0});
  for (const field& v : visited) {
    if (v.begin >= end + align) return {end, v.begin - end};
    end = std::max(end, v.begin + v.size);
  }
  return {0, 0};
}

}  // namespace plaq::elements
