#include "plaq/comm/device/device_copies.hpp"

#include <cstdint>
#include <utility>

namespace plaq::comm {

/// Copies of one kind follow each other, those of different kinds overlap: a device has an engine for each.
struct device_copies::lane {
  direction which;
  cuda::context in;
  cuda::stream stream = nullptr;
  std::vector<cuda::event> spare = {};
};

namespace {

using direction = device_copies::direction;

cuda::address address_of(const std::byte* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

cuda::end_of_copy rows_of(const blocks& what, bool on_host) {
  cuda::end_of_copy end{};
  end.type = on_host ? cuda::host_memory : cuda::device_memory;
  if (on_host)
    end.host = what.data;
  else
    end.device = address_of(what.data);
  end.pitch = what.stride;
  return end;
}

void enqueue(const blocks& from, const blocks& to, direction which, cuda::stream in) {
  const cuda::driver& cuda = *cuda::find_driver();
  const auto run = [&](std::byte* t, const std::byte* f, std::size_t n) {
    cuda::must(cuda.copy(address_of(t), address_of(f), n, in), "cuMemcpyAsync");
  };
  if (from.contiguous() && to.contiguous()) return run(to.data, from.data, from.bytes());
  const auto shaped_as = [](const blocks& one, const blocks& other) {
    return one.contiguous() ? blocks{one.data, other.block, other.count, other.block} : one;
  };
  const blocks f = shaped_as(from, to), t = shaped_as(to, from);
  if (f.block != t.block) return each_run(f, t, run);
  const cuda::copy_2d rows{rows_of(f, which == direction::to_device), rows_of(t, which == direction::to_host), f.block,
                           f.count};
  cuda::must(cuda.copy_rows(&rows, in), "cuMemcpy2DAsync");
}

}  // namespace

device_copies::device_copies() = default;

device_copies::~device_copies() {
  const cuda::driver* cuda = cuda::find_driver();
  for (lane& l : lanes_) {  // failures, as after the end of a context, are ignored
    if (cuda->push(l.in) != cuda::success) continue;
    cuda->wait_for_stream(l.stream);
    for (const cuda::event e : l.spare) cuda->end_event(e);
    cuda->end_stream(l.stream);
    cuda::context out = nullptr;
    cuda->pop(&out);
  }
}

device_copies::lane& device_copies::lane_of(direction which, cuda::context in) {
  for (lane& l : lanes_)
    if (l.which == which && l.in == in) return l;
  cuda::stream fresh = nullptr;
  cuda::must(cuda::find_driver()->make_stream(&fresh, cuda::stream_non_blocking), "cuStreamCreate");
  return lanes_.emplace_back(which, in, fresh);
}

device_copies::copy device_copies::begin(const blocks& from, const blocks& to, direction which, cuda::context in) {
  const cuda::driver& cuda = *cuda::find_driver();
  const cuda::in_context now(in);
  lane& l = lane_of(which, in);
  if (l.spare.empty()) {
    cuda::event fresh = nullptr;
    cuda::must(cuda.make_event(&fresh, cuda::event_disable_timing), "cuEventCreate");
    l.spare.push_back(fresh);
  }
  try {
    enqueue(from, to, which, l.stream);
    cuda::must(cuda.record(l.spare.back(), l.stream), "cuEventRecord");
  } catch (...) {
    cuda.wait_for_stream(l.stream);  // a part of it may be in progress
    throw;
  }
  const copy begun{&l, l.spare.back()};
  l.spare.pop_back();
  return begun;
}

bool device_copies::done(copy& which) {
  const cuda::in_context now(which.in->in);
  const int code = cuda::find_driver()->query(which.end);
  if (code == cuda::not_ready) return false;
  which.in->spare.push_back(std::exchange(which.end, nullptr));
  cuda::must(code, "cuEventQuery");
  return true;
}

void device_copies::wait(copy& which) noexcept {
  const cuda::driver& cuda = *cuda::find_driver();
  if (cuda.push(which.in->in) == cuda::success) {
    cuda.wait_for_stream(which.in->stream);
    cuda::context out = nullptr;
    cuda.pop(&out);
  }
  which.in->spare.push_back(std::exchange(which.end, nullptr));
}

}  // namespace plaq::comm
