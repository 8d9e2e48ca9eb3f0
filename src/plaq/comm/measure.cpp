#include "plaq/comm/measure.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace plaq::comm {

std::vector<double> median_seconds(const communicator& over, const std::vector<std::function<void()>>& variants,
                                   int repeats) {
  std::vector<double> seconds(variants.size() * std::size_t(repeats));
  for (const auto& call : variants) call();  // schedules are made, memory is touched
  for (int i = 0; i < repeats; ++i)
    for (std::size_t v = 0; v < variants.size(); ++v) {
      over.barrier();
      const auto begin = std::chrono::steady_clock::now();
      variants[v]();
      seconds[v * std::size_t(repeats) + std::size_t(i)] =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  over.all_reduce(seconds, operation::max);
  std::vector<double> medians;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    const auto first = seconds.begin() + std::ptrdiff_t(v) * repeats;
    std::nth_element(first, first + repeats / 2, first + repeats);
    medians.push_back(first[repeats / 2]);
  }
  return medians;
}

std::function<void()> sample_call(collectives& by, collective what, std::size_t bytes) {
  const std::size_t n = bytes / sizeof(float), p = std::size_t(by.size());
  const auto buffers = [](std::size_t in, std::size_t out) {
    return std::make_shared<std::pair<std::vector<float>, std::vector<float>>>(std::vector<float>(in, 1),
                                                                               std::vector<float>(out, 1));
  };
  switch (what) {
    case collective::barrier: return [&by] { by.barrier(); };
    case collective::broadcast: return [&by, b = buffers(0, n)] { by.broadcast(b->second); };
    case collective::reduce: return [&by, b = buffers(n, n)] { by.reduce(b->first, b->second, operation::max); };
    case collective::scatter: return [&by, b = buffers(n * p, n)] { by.scatter(b->first, b->second); };
    case collective::gather: return [&by, b = buffers(n, n * p)] { by.gather(b->first, b->second); };
    case collective::all_reduce: return [&by, b = buffers(0, n)] { by.all_reduce(b->second, operation::max); };
    case collective::all_gather: return [&by, b = buffers(n, n * p)] { by.all_gather(b->first, b->second); };
    case collective::all_to_all: return [&by, b = buffers(n * p, n * p)] { by.all_to_all(b->first, b->second); };
    case collective::inclusive_scan:
      return [&by, b = buffers(0, n)] { by.inclusive_scan(b->second, operation::max); };
    case collective::exclusive_scan:
      return [&by, b = buffers(0, n)] { by.exclusive_scan(b->second, operation::max); };
  }
  return {};
}

std::vector<method> candidates(collective what, int ranks, std::size_t bytes) {
  std::vector<int> arities;
  for (int arity = 2; arity < ranks && arity <= 16; arity *= 2) arities.push_back(arity);
  arities.push_back(std::max(2, ranks));
  const bool in_segments =
      what == collective::broadcast || what == collective::reduce || what == collective::all_reduce;
  std::vector<std::size_t> segments{0};
  for (const std::size_t s : {std::size_t(32) << 10, std::size_t(128) << 10, std::size_t(512) << 10})
    if (2 * s <= bytes && in_segments) segments.push_back(s);
  std::vector<method> all;
  for (const auto how : algorithms_for(what)) switch (how) {
      case algorithm::tree:
        for (const int a : arities)
          for (const auto s : segments) all.push_back({how, a, s});
        break;
      case algorithm::chain:
        for (const int a : {1, 2})
          for (const auto s : segments)
            if (s > 0) all.push_back({how, a, s});
        break;
      case algorithm::butterfly:
      case algorithm::bruck:
        for (const int a : arities) all.push_back({how, a, 0});
        break;
      default: all.push_back({how, 2, 0});
    }
  return all;
}

}  // namespace plaq::comm
