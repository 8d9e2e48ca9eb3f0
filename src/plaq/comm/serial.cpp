// The serial twin: a job of one rank, with or without MPI in the program.
#include "plaq/base/error.hpp"
#include "plaq/comm/transport.hpp"
#include "plaq/comm/wire.hpp"

namespace plaq::comm {

namespace {

[[noreturn]] void nobody() { throw runtime_failure("a job of one rank has nobody to talk to"); }

class serial final : public transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<transport> split(int, int) override { return serial_transport(); }
  std::unique_ptr<transport> split_by_node() override { return serial_transport(); }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  void all_reduce(std::span<std::byte>, scalar, operation) override {}
  void send(std::span<const std::byte>, int, int) override { nobody(); }
  void receive(std::span<std::byte>, int, int) override { nobody(); }
  std::unique_ptr<wire> open_wire() override { return serial_wire(); }
  void abort(int) override {}
};

}  // namespace

std::unique_ptr<transport> serial_transport() { return std::make_unique<serial>(); }

}  // namespace plaq::comm
