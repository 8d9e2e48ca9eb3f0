#include "plaq/comm/wire.hpp"

#include <algorithm>
#include <cstring>

#include "plaq/base/error.hpp"

namespace plaq::comm {

void copy(const blocks& from, const blocks& to) {
  // Both are cut where either has a block's end.
  std::size_t i = 0, j = 0, in_i = 0, in_j = 0;
  for (std::size_t left = from.bytes(); left > 0;) {
    const std::size_t n =
        std::min({left, from.contiguous() ? left : from.block - in_i, to.contiguous() ? left : to.block - in_j});
    std::memcpy(to.data + (to.contiguous() ? to.bytes() - left : j * to.stride + in_j),
                from.data + (from.contiguous() ? from.bytes() - left : i * from.stride + in_i), n);
    left -= n;
    if ((in_i += n) == from.block) ++i, in_i = 0;
    if ((in_j += n) == to.block) ++j, in_j = 0;
  }
}

namespace {

class serial final : public wire {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  handle send(const blocks&, int, int) override { nobody(); }
  handle receive(const blocks&, int, int) override { nobody(); }
  void cancel(handle) override {}
  std::optional<arrival> next_arrival() override { return std::nullopt; }
  handle receive(const arrival&, const blocks&) override { nobody(); }
  handle prepare_send(const blocks&, int, int) override { nobody(); }
  void start(handle, std::size_t) override { nobody(); }
  void forget(handle) override {}
  void test(std::span<handle>, std::vector<end>&) override {}

 private:
  [[noreturn]] static void nobody() { throw runtime_failure("a job of one rank has nobody to talk to"); }
};

}  // namespace

std::unique_ptr<wire> serial_wire() { return std::make_unique<serial>(); }

}  // namespace plaq::comm
