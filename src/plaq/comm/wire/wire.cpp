#include "plaq/comm/wire/wire.hpp"

#include <cstring>

#include "plaq/base/error.hpp"

namespace plaq::comm {

void copy(const blocks& from, const blocks& to) {
  each_run(from, to, [](std::byte* t, const std::byte* f, std::size_t n) { std::memcpy(t, f, n); });
}

namespace {

class serial final : public wire {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<wire> duplicate() override { return serial_wire(); }
  std::unique_ptr<wire> split(int, int) override { return serial_wire(); }
  std::unique_ptr<wire> split_by_node() override { return serial_wire(); }
  handle send(const blocks&, int, int) override { no_peer(); }
  handle receive(const blocks&, int, int) override { no_peer(); }
  void cancel(handle) override {}
  std::optional<arrival> next_arrival() override { return std::nullopt; }
  handle receive(const arrival&, const blocks&) override { no_peer(); }
  handle prepare_send(const blocks&, int, int) override { no_peer(); }
  void start(handle, std::size_t) override { no_peer(); }
  void forget(handle) override {}
  void test(std::span<handle>, std::vector<end>&) override {}

 private:
  [[noreturn]] static void no_peer() {
    throw runtime_failure("a job of one rank has no other rank to communicate with");
  }
};

}  // namespace

std::unique_ptr<wire> serial_wire() { return std::make_unique<serial>(); }

}  // namespace plaq::comm
