#include "plaq/comm/wire/traffic.hpp"

#include <atomic>
#include <cstdint>

#include "plaq/trace/counters.hpp"

namespace plaq::comm::traffic {

namespace {

struct flow {
  std::atomic<std::uint64_t> calls{0}, bytes{0};
  void add(std::size_t more) noexcept {
    calls.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(more, std::memory_order_relaxed);
  }
};
flow out, in, all;

const trace::counter_source source([](std::vector<trace::sample>& samples) {
  const auto add = [&](const char* name, const char* unit, const std::atomic<std::uint64_t>& value) {
    samples.push_back({name, unit, -1, -1, static_cast<double>(value.load(std::memory_order_relaxed))});
  };
  add("messages sent", "1", out.calls);
  add("bytes sent", "B", out.bytes);
  add("messages received", "1", in.calls);
  add("bytes received", "B", in.bytes);
  add("collective calls", "1", all.calls);
  add("bytes in collective calls", "B", all.bytes);
});

}  // namespace

void count_sent(std::size_t bytes) noexcept { out.add(bytes); }
void count_received(std::size_t bytes) noexcept { in.add(bytes); }
void count_collective(std::size_t bytes) noexcept { all.add(bytes); }

}  // namespace plaq::comm::traffic
