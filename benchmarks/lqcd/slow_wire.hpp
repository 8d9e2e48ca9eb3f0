// Wire with a given latency and bandwidth, to emulate a network on one machine.
#pragma once
#include <chrono>
#include <deque>
#include <memory>
#include <utility>

#include "plaq/comm/wire/wire.hpp"

namespace plaq::bench {

/// Wire that delays every message after its arrival, and after the previous message, by `latency` and by its bytes over
/// `bytes_per_second`.
class slow_wire final : public comm::wire {
 public:
  using clock = std::chrono::steady_clock;
  struct line {
    double latency;  ///< seconds
    double bytes_per_second;
  };

  slow_wire(std::unique_ptr<comm::wire> over, line options) : over_(std::move(over)), options_(options) {}

  int rank() const override { return over_->rank(); }
  int size() const override { return over_->size(); }
  std::unique_ptr<comm::wire> duplicate() override { return std::make_unique<slow_wire>(over_->duplicate(), options_); }
  std::unique_ptr<comm::wire> split(int color, int key) override { return over_->split(color, key); }
  std::unique_ptr<comm::wire> split_by_node() override { return over_->split_by_node(); }
  handle send(const comm::blocks& from, int peer, int tag) override { return over_->send(from, peer, tag); }
  handle receive(const comm::blocks& to, int peer, int tag) override { return over_->receive(to, peer, tag); }
  void cancel(handle receive) override { over_->cancel(receive); }

  std::optional<arrival> next_arrival() override {
    const auto now = clock::now();
    while (auto next = over_->next_arrival()) {
      const auto begin = std::max(now, free_);
      free_ = begin + seconds(double(next->bytes) / options_.bytes_per_second);
      arrivals_.push_back({free_ + seconds(options_.latency), *next});
    }
    if (arrivals_.empty() || arrivals_.front().due > now) return std::nullopt;
    const auto first = arrivals_.front().message;
    arrivals_.pop_front();
    return first;
  }
  handle receive(const arrival& message, const comm::blocks& to) override { return over_->receive(message, to); }

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
  struct delayed {
    clock::time_point due;
    arrival message;
  };
  std::unique_ptr<comm::wire> over_;
  line options_;
  clock::time_point free_{};
  std::deque<delayed> arrivals_;
};

}  // namespace plaq::bench
