#include "plaq/comm/collectives/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "plaq/comm/wire/clock_offset.hpp"

namespace plaq::comm {

std::vector<double> median_seconds(const communicator& over, const std::vector<std::function<void()>>& variants,
                                   int repeats) {
  const auto offset = measure_clock_offset(over);
  collectives all_ranks(over);
  // Clocks whose offset is below its error are the same, as on one machine.
  const double to_root = std::abs(offset.seconds) > offset.error ? offset.seconds : 0;
  const auto now = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count() + to_root;
  };
  const auto n = std::size_t(repeats), all = variants.size() * n;
  std::vector<double> times(2 * all);        // begins, then ends
  for (const auto& call : variants) call();  // schedules are made, memory is touched
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t v = 0; v < variants.size(); ++v) {
      all_ranks.barrier();
      times[v * n + i] = now();
      variants[v]();
      times[all + v * n + i] = now();
    }
  all_ranks.all_reduce(std::span(times).first(all), operation::min);
  all_ranks.all_reduce(std::span(times).last(all), operation::max);
  std::vector<double> medians;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    std::vector<double> seconds;
    for (std::size_t i = v * n; i < (v + 1) * n; ++i) seconds.push_back(times[all + i] - times[i]);
    std::ranges::nth_element(seconds, seconds.begin() + repeats / 2);
    medians.push_back(seconds[n / 2]);
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
    case collective::reduce_scatter:
      return [&by, b = buffers(n * p, n)] { by.reduce_scatter(b->first, b->second, operation::max); };
    case collective::inclusive_scan: return [&by, b = buffers(0, n)] { by.inclusive_scan(b->second, operation::max); };
    case collective::exclusive_scan: return [&by, b = buffers(0, n)] { by.exclusive_scan(b->second, operation::max); };
  }
  return {};
}

std::vector<method> candidates(collective what, int ranks, std::size_t bytes) {
  std::vector<int> arities;
  for (int arity = 2; arity < ranks && arity <= 16; arity *= 2) arities.push_back(arity);
  arities.push_back(std::max(2, ranks));
  const bool scans = what == collective::inclusive_scan || what == collective::exclusive_scan;
  const bool in_segments =
      what == collective::broadcast || what == collective::reduce || what == collective::all_reduce || scans;
  std::vector<std::size_t> segments{0};
  for (const std::size_t s : {std::size_t(32) << 10, std::size_t(128) << 10, std::size_t(512) << 10})
    if (2 * s <= bytes && in_segments) segments.push_back(s);
  std::vector<method> all;
  for (const auto how : algorithms_for(what)) switch (how) {
      case algorithm::tree:
        for (const int a : arities)
          for (const auto s : segments)
            if (s == 0 || !scans) all.push_back({how, a, s});
        break;
      case algorithm::chain:
        for (const int a : {1, 2})
          for (const auto s : segments)
            if (scans ? a == 1 : s > 0) all.push_back({how, a, s});
        break;
      case algorithm::butterfly:
      case algorithm::bruck:
        for (const int a : arities) all.push_back({how, a, 0});
        break;
      default: all.push_back({how, 2, 0});
    }
  return all;
}

std::vector<measurement> measure_candidates(const communicator& over, collective what, std::size_t bytes, int repeats) {
  const auto methods = candidates(what, over.size(), bytes);
  std::vector<std::unique_ptr<collectives>> by;
  std::vector<std::function<void()>> calls;
  for (const auto& m : methods) {
    by.push_back(std::make_unique<collectives>(over, collective_options{false, m}));
    calls.push_back(sample_call(*by.back(), what, bytes));
  }
  const auto seconds = median_seconds(over, calls, repeats);
  std::vector<measurement> out;
  for (std::size_t i = 0; i < methods.size(); ++i) out.push_back({methods[i], seconds[i]});
  std::ranges::stable_sort(out, {}, &measurement::seconds);
  return out;
}

}  // namespace plaq::comm
