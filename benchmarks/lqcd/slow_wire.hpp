// A wire whose messages take a set time, so that one machine shows what a network does.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::bench {

/// Every message arrives so long after it was seen to come, and after the one before it, as `latency` and its
/// bytes over `bytes_per_second` take.
class slow_wire final : public comm::wire {
 public:
  using clock = std::chrono::steady_clock;
  struct line {
    double latency;  ///< seconds
    double bytes_per_second;
  };

  slow_wire(std::unique_ptr<comm::wire> over, line how) : over_(std::move(over)), how_(how) {}

  int rank() const override { return over_->rank(); }
  int size() const override { return over_->size(); }
  std::unique_ptr<comm::wire> duplicate() override { return std::make_unique<slow_wire>(over_->duplicate(), how_); }
  std::unique_ptr<comm::wire> split(int color, int key) override { return over_->split(color, key); }
  std::unique_ptr<comm::wire> split_by_node() override { return over_->split_by_node(); }
  handle send(const comm::blocks& from, int peer, int tag) override { return over_->send(from, peer, tag); }
  handle receive(const comm::blocks& to, int peer, int tag) override { return over_->receive(to, peer, tag); }
  void cancel(handle receive) override { over_->cancel(receive); }

  std::optional<arrival> next_arrival() override {
    const auto now = clock::now();
    while (auto came = over_->next_arrival()) {
      const auto begin = std::max(now, free_);
      free_ = begin + seconds(double(came->bytes) / how_.bytes_per_second);
      coming_.push_back({free_ + seconds(how_.latency), *came});
    }
    if (coming_.empty() || coming_.front().due > now) return std::nullopt;
    const auto first = coming_.front().what;
    coming_.pop_front();
    return first;
  }
  handle receive(const arrival& which, const comm::blocks& to) override { return over_->receive(which, to); }

  handle prepare_send(const comm::blocks& from, int peer, int tag) override {
    return over_->prepare_send(from, peer, tag);
  }
  void start(handle prepared, std::size_t bytes) override { over_->start(prepared, bytes); }
  void forget(handle prepared) override { over_->forget(prepared); }
  void test(std::span<handle> under_way, std::vector<end>& ends) override { over_->test(under_way, ends); }

 private:
  static clock::duration seconds(double s) {
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(s));
  }
  struct one {
    clock::time_point due;
    arrival what;
  };
  std::unique_ptr<comm::wire> over_;
  line how_;
  clock::time_point free_{};
  std::deque<one> coming_;
};

}  // namespace plaq::bench
