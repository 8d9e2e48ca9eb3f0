#include "plaq/collection/runtime/partial_results.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::elements {

namespace {

struct merger {
  places known;
  const combine_packed& combine;
  std::vector<partial_result> done = {};

  /// Appends what the parts within `here`, a half of a half and so on, come to: one part or none where they hold all
  /// its values. Returns whether they do.
  bool merge(places here, std::span<partial_result> parts) {
    const bool whole = known.first <= here.first && here.last <= known.last;
    if (parts.empty()) return whole;
    if (parts.size() == 1 && (whole || (parts[0].first == here.first && parts[0].last == here.last))) {
      done.push_back({here.first, here.last, std::move(parts[0].bytes)});
      return true;
    }
    check(here.first < here.last, "two elements have one position");
    const place middle = here.first + (here.last - here.first) / 2;
    const auto cut = std::size_t(std::ranges::upper_bound(parts, middle, {}, &partial_result::first) - parts.begin());
    const std::size_t begin = done.size();
    const bool left = merge({here.first, middle}, parts.first(cut));
    const bool right = merge({middle + 1, here.last}, parts.subspan(cut));
    if (!left || !right) return false;
    if (done.size() == begin + 2) {
      combine(done[begin].bytes, done.back().bytes);
      done.pop_back();
    }
    done.back().first = here.first;
    done.back().last = here.last;
    return true;
  }
};

}  // namespace

std::vector<partial_result> merge_parts(std::vector<partial_result> parts, places known,
                                        const combine_packed& combine) {
  std::ranges::sort(parts, {}, &partial_result::first);
  merger by{known, combine};
  by.merge({}, parts);
  return std::move(by.done);
}

}  // namespace plaq::elements
