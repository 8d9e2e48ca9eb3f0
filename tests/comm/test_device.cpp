// Messages and collectives whose buffers lie in the memory of GPUs, on any number of ranks: linked with a stand-in
// for the driver, whose device memory ends a process that touches it, and once more without, for machines with a
// GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>

#include "gpu.hpp"
#include "plaq/base/error.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/device/pinned_pool.hpp"
#include "plaq/comm/messages/messenger.hpp"
#include "plaq/comm/mpi/library.hpp"
#include "plaq/task/task.hpp"
#include "ranks.hpp"

namespace {

using namespace plaq::comm;
using test::device_array;
using test::gpus;
using test::in_small_pieces;
using test::message_of;
using test::world;
namespace task = plaq::task;
using namespace std::chrono_literals;

#define NEEDS_A_GPU                                        \
  if (!gpus::find()) GTEST_SKIP() << "no NVIDIA GPU here"; \
  if (gpus::find()->fake() && mpi_takes_device_memory()) GTEST_SKIP() << "MPI would look for a GPU"
// What the driver does wrong only when it is told to.
#define NEEDS_THE_STAND_IN \
  NEEDS_A_GPU;             \
  if (!gpus::find()->fake()) GTEST_SKIP() << "only for the stand-in of the driver"

bool mpi_takes_device_memory() { return thread_level() != "" && takes_device_memory(); }

std::vector<int> numbers(int seed, std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<int> x(n);
  for (auto& v : x) v = int(random() >> 1);
  return x;
}

/// Rows of `length` values that lie `stride` apart, in host or device memory.
class matrix {
 public:
  static constexpr int gap = -7;

  matrix(std::size_t rows, std::size_t length, std::size_t stride, int kind)
      : rows_(rows), length_(length), stride_(stride), host_(rows * stride, gap) {
    if (kind >= 0) device_ = std::make_unique<device_array<int>>(host_, kind);
  }
  void write(const std::vector<int>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) host_[i / length_ * stride_ + i % length_] = values[i];
    if (device_) device_->write(host_);
  }
  /// And that nothing has touched the gaps.
  std::vector<int> read() {
    if (device_) host_ = device_->read();
    std::vector<int> values;
    for (std::size_t i = 0; i < host_.size(); ++i)
      if (i % stride_ < length_)
        values.push_back(host_[i]);
      else
        EXPECT_EQ(host_[i], gap) << i;
    return values;
  }
  std::span<int> all() { return device_ ? device_->span() : std::span(host_); }
  strided<int> blocks() { return {all().data(), rows_, length_, stride_}; }

 private:
  std::size_t rows_, length_, stride_;
  std::vector<int> host_;
  std::unique_ptr<device_array<int>> device_;
};

/// A matrix of `n` values: contiguous or not, on the host or a device, as the random number says.
std::unique_ptr<matrix> some_matrix(std::size_t n, unsigned random) {
  const int kind = random % 3 == 0 ? -1 : int(random / 3 % 4);
  const std::size_t parts[] = {1, 2, 5, 30};
  std::size_t length = parts[random / 12 % 4];
  while (n % length) --length;
  return std::make_unique<matrix>(n / length, length, length + random / 48 % 3, kind);
}

TEST(device, a_driver_that_nobody_has_initialised_knows_no_device_memory) {
  messenger m(world());
  std::vector<int> out{m.rank()}, in(1);
  auto coming = m.irecv(in, (m.rank() + m.size() - 1) % m.size());
  m.isend(out, (m.rank() + 1) % m.size()).get();
  coming.get();
  EXPECT_EQ(in[0], (m.rank() + m.size() - 1) % m.size());
}

// Many messages between all pairs of ranks, each end somewhere else; sizes and values are functions of sender,
// receiver and number, what else there is each rank decides for itself.
TEST(device, any_message_from_and_to_anywhere) {
  NEEDS_A_GPU;
  const int p = world().size(), me = world().rank();
  constexpr int count = 12, tags = 2;
  constexpr std::size_t sizes[] = {0, 1, 30, 150, 5000, 5001, 90000};
  std::mt19937 random(static_cast<unsigned>(me));
  for (const auto* over : {&world(), &in_small_pieces()})
    for (const auto& backend : task::backends())
      task::with_backend(backend, {.workers = 2}, [&](auto& pool) {
        messenger m(*over);
        const auto seed = [&](int from, int to, int i) { return (from * p + to) * count + i; };
        const auto size = [&](int s) { return sizes[std::size_t(s) * 7919 % std::size(sizes)]; };
        std::vector<task::future<void>> tasks;
        for (int peer = 0; peer < p; ++peer) {
          std::vector<std::unique_ptr<matrix>> out, in;
          for (int i = 0; i < count; ++i) {
            out.push_back(some_matrix(size(seed(me, peer, i)), unsigned(random())));
            out.back()->write(numbers(seed(me, peer, i), size(seed(me, peer, i))));
            in.push_back(some_matrix(size(seed(peer, me, i)), unsigned(random())));
          }
          // The order of messages of one tag is what tells them apart.
          tasks.push_back(pool.async("send", [&, peer, out = std::move(out)] {
            std::vector<task::future<status>> all;
            for (int i = 0; i < count; ++i) all.push_back(m.isend(out[std::size_t(i)]->blocks(), peer, i % tags));
            for (auto& f : all) f.get();
          }));
          tasks.push_back(pool.async("receive", [&, peer, in = std::move(in)] {
            std::vector<task::future<status>> all;
            for (int i = 0; i < count; ++i) all.push_back(m.irecv(in[std::size_t(i)]->blocks(), peer, i % tags));
            for (int i = 0; i < count; ++i) {
              const int s = seed(peer, me, i);
              EXPECT_EQ(all[std::size_t(i)].get().bytes, size(s) * sizeof(int));
              EXPECT_EQ(in[std::size_t(i)]->read(), numbers(s, size(s))) << "number " << i << " of rank " << peer;
            }
          }));
        }
        for (auto& t : tasks) t.get();
        test::meet();
      });
}

TEST(device, a_message_does_not_overtake_one_that_is_still_copied) {
  NEEDS_A_GPU;
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  for (int round = 0; round < 20; ++round) {
    const device_array<int> far(numbers(me, 70000));
    std::vector<int> near{me}, first(70000), second(1), third(1);
    auto prepared = m.prepare_send(near, to);
    std::vector<task::future<status>> all;
    all.push_back(m.irecv(first, from));
    all.push_back(m.irecv(second, from));
    all.push_back(m.irecv(third, from));
    all.push_back(m.isend(far.span(), to));
    all.push_back(m.isend(near, to));
    all.push_back(prepared.start());
    m.wait_for(all, 60s);
    EXPECT_EQ(first, numbers(from, 70000));
    EXPECT_EQ(second[0], from);
    EXPECT_EQ(third[0], from);
  }
}

TEST(device, prepared_sends) {
  NEEDS_A_GPU;
  messenger m(world());
  const int p = m.size(), me = m.rank();
  for (int shift : {1 % p, 0})
    for (std::size_t n : {0, 1, 40000}) {
      device_array<int> out(n), in(n);
      auto prepared = m.prepare_send(out.span(), (me + shift) % p);
      for (int round = 0; round < 5; ++round) {
        out.write(numbers(10 * me + round, n));
        auto coming = m.irecv(in.span(), (me + p - shift) % p);
        auto going = prepared.start();
        coming.get();
        going.get();
        EXPECT_EQ(in.read(), numbers(10 * ((me + p - shift) % p) + round, n));
      }
    }
}

TEST(device, memory_is_pinned_once_and_not_for_ever) {
  NEEDS_THE_STAND_IN;
  const auto pins = gpus::find()->function<long()>("fake_cuda_pins");
  const auto pinned = gpus::find()->function<std::size_t()>("fake_cuda_pinned");
  ASSERT_EQ(pinned(), 0u);
  {
    pinned_pool pool;
    const long before = pins();
    const auto on = gpus::find()->on(0);
    for (std::size_t n : {9000, 10000, 16384}) pool.give_back(pool.take(n, on));
    EXPECT_EQ(pins() - before, 1);
    const auto a = pool.take(10000, on), b = pool.take(16385, on);
    EXPECT_EQ(pins() - before, 2);
    EXPECT_GE(b.size, 16385u);
    const auto large = pool.take(pool.most_kept, on), larger = pool.take(pool.most_kept + 1, on);
    for (const auto& each : {a, larger, large, b}) pool.give_back(each);
    EXPECT_EQ(pinned(), a.size + b.size);
    pool.give_back(pool.take(10000, on));
    EXPECT_EQ(pins() - before, 4);
  }
  EXPECT_EQ(pinned(), 0u);
  messenger m(world());
  const int p = m.size(), me = m.rank();
  const device_array<int> out(numbers(me, 2500)), in(2500);
  const long before = pins();
  for (int i = 0; i < 20; ++i) {
    auto coming = m.irecv(in.span(), (me + p - 1) % p), going = m.isend(out.span(), (me + 1) % p);
    coming.get();
    going.get();
  }
  EXPECT_LE(pins() - before, 2);
}

TEST(device, managed_memory_is_the_hosts) {
  NEEDS_A_GPU;
  messenger m(world());
  const int p = m.size(), me = m.rank();
  plaq::comm::cuda::address memory = 0;
  plaq::comm::cuda::context out = nullptr;
  gpus::find()->call("cuCtxPushCurrent_v2", gpus::find()->on(0));
  gpus::find()->call("cuMemAllocManaged", &memory, std::size_t(400), 1u);
  gpus::find()->call("cuCtxPopCurrent_v2", &out);
  const std::span<int> managed(reinterpret_cast<int*>(std::uintptr_t(memory)), 100);
  EXPECT_FALSE(world().open_wire()->on_device({reinterpret_cast<std::byte*>(managed.data()), 400}));
  std::ranges::copy(numbers(me, 100), managed.begin());
  std::vector<int> in(100);
  auto coming = m.irecv(in, (me + p - 1) % p), going = m.isend(managed, (me + 1) % p);
  coming.get();
  going.get();
  EXPECT_EQ(in, numbers((me + p - 1) % p, 100));
  gpus::find()->call("cuMemFree_v2", memory);
}

TEST(device, errors_of_the_driver_are_in_the_future) {
  NEEDS_THE_STAND_IN;
  const auto fail = gpus::find()->function<void(const char*, int)>("fake_cuda_fail");
  const int p = world().size(), me = world().rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  const device_array<int> far(numbers(me, 1000)), wide(2000);
  const auto calls = p == 1
                         ? std::vector{"cuPointerGetAttributes", "cuCtxPushCurrent", "cuStreamCreate", "cuEventCreate",
                                       "cuMemcpyAsync",          "cuEventRecord",    "cuEventQuery"}
                         : std::vector{"cuPointerGetAttributes", "cuMemHostAlloc", "cuCtxPushCurrent", "cuStreamCreate",
                                       "cuEventCreate",          "cuMemcpyAsync",  "cuEventRecord",    "cuEventQuery"};
  for (const char* call : calls) {
    messenger m(world());
    std::vector<int> in(1000);
    std::vector<task::future<status>> all;
    all.push_back(m.irecv(in, from, 3));
    fail(call, 0);
    auto bad = m.isend(far.span(), to, 3);
    const auto text = message_of<plaq::runtime_failure>([&] { bad.get(); });
    const std::string who = "rank " + std::to_string(me) + ": " + (p == 1 ? "receive from rank " : "send to rank ");
    EXPECT_EQ(text.find(who + std::to_string(to) + " with tag 3: " + call + " failed: CUDA_ERROR_"), 0u) << text;
    if (p == 1) {
      EXPECT_EQ(message_of<plaq::runtime_failure>([&] { all[0].get(); }), text);
      all[0] = m.irecv(in, from, 3);
    }
    all.push_back(m.isend(far.span(), to, 3));  // which takes its place
    m.wait_for(all, 60s);
    EXPECT_EQ(in, numbers(from, 1000));
  }
  if (p == 1) return;
  for (const char* call : {"cuMemHostAlloc", "cuMemcpy2DAsync", "cuEventQuery"}) {
    messenger m(world());
    std::vector<int> out(1000);
    m.isend(out, to, 4).get();
    test::meet();
    fail(call, 0);
    auto bad = m.irecv(strided<int>{wide.data(), 1000, 1, 2}, from, 4);
    const auto text = message_of<plaq::runtime_failure>([&] { bad.get(); });
    EXPECT_EQ(text.find("rank " + std::to_string(me) + ": receive from rank " + std::to_string(from) +
                        " with tag 4: " + call + " failed: CUDA_ERROR_"),
              0u)
        << text;
    test::meet();
  }
}

TEST(device, a_message_that_does_not_fit_harms_no_other) {
  NEEDS_A_GPU;
  messenger m(world());
  const int p = m.size(), me = m.rank(), to = (me + 1) % p, from = (me + p - 1) % p;
  const device_array<int> out(numbers(me, 300)), in(200), fits(300);
  auto bad = m.irecv(in.span(), from), good = m.irecv(fits.span(), from);
  auto first = m.isend(out.span(), to), second = m.isend(out.span(), to);
  EXPECT_NE(message_of<plaq::runtime_failure>([&] { bad.get(); }).find("expected 800 bytes and got 1200"),
            std::string::npos);
  good.get();
  first.get();
  second.get();
  EXPECT_EQ(fits.read(), numbers(from, 300));
}

TEST(device, what_is_under_way_at_its_end_fails_and_leaves_the_memory_alone) {
  NEEDS_A_GPU;
  const int p = world().size(), me = world().rank();
  std::vector<task::future<status>> all;
  for (int round = 0; round < 10; ++round) {
    {
      const device_array<int> out(50000), in(50000);
      messenger m(world());
      all.clear();
      all.push_back(m.irecv(in.span(), me, 1));
      all.push_back(m.irecv(in.span(), (me + 1) % p, 2));
      all.push_back(m.isend(out.span(), me, 1));
      for (int i = 0; i < round; ++i) all.push_back(m.isend(out.span(), me, 5));
      for (int i = 0; i < 3; ++i) task::detail::poll_once();
    }
    for (auto& f : all) EXPECT_TRUE(f.is_ready());
    EXPECT_NE(message_of<plaq::runtime_failure>([&] { all[1].get(); }).find("the messenger was destroyed"),
              std::string::npos);
    test::meet();
  }
}

TEST(device, what_a_wire_lets_go_of_no_longer_touches_its_memory) {
  NEEDS_A_GPU;
  const auto wire = world().open_wire();
  for (int round = 0; round < 10; ++round) {
    const device_array<int> a(1000), b(1000);
    std::vector<int> c(1000);
    const auto bytes = [](int* first) { return blocks{reinterpret_cast<std::byte*>(first), 4000}; };
    wire->forget(wire->copy(bytes(a.data()), bytes(b.data())));
    wire->forget(wire->copy(bytes(a.data()), bytes(c.data())));
    wire->forget(wire->copy(bytes(c.data()), bytes(b.data())));
  }
}

TEST(device, callers_keep_their_context) {
  NEEDS_THE_STAND_IN;
  const auto get = [] {
    plaq::comm::cuda::context now = nullptr;
    gpus::find()->call("cuCtxGetCurrent", &now);
    return now;
  };
  const device_array<int> out(1000, 2), in(1000);
  messenger m(world());
  const int p = m.size(), me = m.rank();
  plaq::comm::cuda::context popped = nullptr;
  gpus::find()->call("cuCtxPushCurrent_v2", gpus::find()->on(0));
  auto coming = m.irecv(in.span(), (me + p - 1) % p), going = m.isend(out.span(), (me + 1) % p);
  coming.get();
  going.get();
  EXPECT_EQ(get(), gpus::find()->on(0));
  gpus::find()->call("cuCtxPopCurrent_v2", &popped);
  EXPECT_EQ(get(), nullptr);
}

/// Values that lie on the host or on a device.
class anywhere {
 public:
  anywhere(std::vector<int> values, unsigned random) : host_(std::move(values)) {
    if (random % 3) device_ = std::make_unique<device_array<int>>(host_, int(random / 3 % 4));
  }
  std::span<int> span() { return device_ ? device_->span() : std::span(host_); }
  std::vector<int> read() { return device_ ? device_->read() : host_; }

 private:
  std::vector<int> host_;
  std::unique_ptr<device_array<int>> device_;
};

TEST(device, collectives_that_only_move_bytes) {
  NEEDS_A_GPU;
  const int p = world().size(), me = world().rank();
  std::mt19937 random(static_cast<unsigned>(me) + 50u);
  const std::vector<std::optional<method>> methods{{},
                                                   method{algorithm::tree, 2},
                                                   method{algorithm::chain, 1, 1000},
                                                   method{algorithm::butterfly, 2},
                                                   method{algorithm::ring},
                                                   method{algorithm::direct},
                                                   method{algorithm::bruck, 2}};
  for (const auto& by : methods) {
    collectives c(world(), {.by = by});
    for (const std::size_t n : {0, 1, 777, 20000}) {
      const auto of = [&](int rank) { return numbers(100 + rank, n); };
      const auto here = [&](std::vector<int> values) { return anywhere(std::move(values), unsigned(random())); };
      const std::size_t all = n * std::size_t(p);
      std::vector<int> everybody, turned;
      for (int r = 0; r < p; ++r) {
        const auto x = of(r);
        everybody.insert(everybody.end(), x.begin(), x.end());
        const auto y = numbers(p * r + me, n);
        turned.insert(turned.end(), y.begin(), y.end());
      }
      for (int root = 0; root < p; ++root) {
        auto one = here(me == root ? of(root) : std::vector<int>(n));
        auto mine = here(of(me)), whole = here(std::vector<int>(all)), block = here(std::vector<int>(n)),
             source = here(everybody);
        auto first = c.ibroadcast(one.span(), root);
        auto second = c.igather(mine.span(), whole.span(), root);
        c.scatter(source.span(), block.span(), root);
        first.get();
        second.get();
        EXPECT_EQ(one.read(), of(root));
        EXPECT_EQ(block.read(), of(me));
        if (me == root) {
          EXPECT_EQ(whole.read(), everybody);
        }
      }
      auto mine = here(of(me)), whole = here(std::vector<int>(all)), back = here(std::vector<int>(all));
      std::vector<int> to_all;
      for (int r = 0; r < p; ++r) {
        const auto x = numbers(p * me + r, n);
        to_all.insert(to_all.end(), x.begin(), x.end());
      }
      auto out = here(to_all);
      auto first = c.iall_gather(mine.span(), whole.span());
      c.all_to_all(out.span(), back.span());
      first.get();
      EXPECT_EQ(whole.read(), everybody);
      EXPECT_EQ(back.read(), turned);
    }
  }
}

TEST(device, values_on_a_device_are_not_combined) {
  NEEDS_A_GPU;
  collectives c(world());
  const device_array<int> far(10);
  std::vector<int> near(10);
  const auto refused = [](auto&& call) { return message_of<plaq::input_error>(call); };
  EXPECT_EQ(refused([&] { c.all_reduce(far.span(), operation::sum); }),
            "all_reduce: a buffer is memory of a GPU; values are combined in host memory only");
  EXPECT_EQ(refused([&] { c.reduce(far.span(), near, operation::sum); }).find("reduce: a buffer is memory"), 0u);
  EXPECT_EQ(refused([&] { (void)c.iinclusive_scan(far.span(), operation::max); }).find("inclusive_scan: "), 0u);
  EXPECT_EQ(refused([&] { c.exclusive_scan(far.span(), operation::max); }).find("exclusive_scan: "), 0u);
  c.all_reduce(near, operation::sum);
}

// The last one: MPI may give messages that nobody took to a later communicator.
TEST(device, sends_that_are_still_copied_at_its_end_are_given_up) {
  NEEDS_A_GPU;
  const int p = world().size(), me = world().rank();
  if (p == 1) GTEST_SKIP() << "needs another rank";
  const auto pinned = gpus::find()->function<std::size_t()>("fake_cuda_pinned");
  for (int round = 0; round < 10; ++round) {
    const device_array<int> out(100);
    std::vector<task::future<status>> all;
    {
      messenger m(world());
      for (int i = 0; i < 10; ++i) all.push_back(m.isend(out.span(), (me + 1) % p));
    }
    for (auto& f : all) EXPECT_TRUE(f.is_ready());
    test::meet();
  }
  if (gpus::find()->fake() && !mpi_takes_device_memory()) {
    EXPECT_LE(pinned(), 10u * 10u * 4096u) << "only what MPI may still read";
  }
}

}  // namespace
