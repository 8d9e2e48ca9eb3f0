#include "plaq/comm/device/device_wire.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/device/cuda_driver.hpp"
#include "plaq/comm/device/device_copies.hpp"
#include "plaq/comm/device/pinned_pool.hpp"

namespace plaq::comm {

namespace {

using direction = device_copies::direction;

cuda::context device_of(const blocks& memory) { return memory.bytes() > 0 ? cuda::context_of(memory.data) : nullptr; }

/// Sends of one tag to one rank, of which none may overtake another.
using line = std::pair<int, int>;

/// A message or copy that takes more than one step, and where it stands.
struct job {
  enum class kind { send, receive, copy };
  enum class stage {
    idle,       ///< prepared, not started
    leaving,    ///< from a device to pinned memory
    in_line,    ///< until the sends before it have begun
    in_flight,  ///< over the wire below
    landing,    ///< where it is wanted
    failed
  };

  kind what;
  blocks from, to;                 // the caller's memory
  cuda::context device = nullptr;  // nullptr: a send of host memory that has to keep its place in the line
  line in = {-1, -1};              // of a send
  bool prepared = false;
  stage now = stage::idle;
  pinned_pool::buffer pinned = {};
  device_copies::copy copying = {};
  wire::handle below = wire::nothing;
  std::size_t received = 0;
  std::string error = {};

  std::size_t size() const { return std::max(from.bytes(), to.bytes()); }
  blocks staged() const { return {pinned.data, size(), 1, size()}; }
  blocks outgoing() const { return device ? staged() : from; }
};

using stage = job::stage;

// Handles of jobs beside those of the wire below, which are pointers or ints.
constexpr wire::handle mark = wire::handle(1) << 62;
bool is_job(wire::handle h) { return h >> 62 == 1; }

class device_wire final : public wire {
 public:
  device_wire(std::unique_ptr<wire> below, bool stages) : below_(std::move(below)), stages_(stages) {}
  ~device_wire() override {
    for (std::size_t i = 0; i < jobs_.size(); ++i)
      if (jobs_[i]) forget(mark | i);
  }

  int rank() const override { return below_->rank(); }
  int size() const override { return below_->size(); }
  std::uint32_t number() const override { return below_->number(); }
  bool on_device(const blocks& memory) const override { return device_of(memory) != nullptr; }
  std::unique_ptr<wire> duplicate() override { return alike(below_->duplicate()); }
  std::unique_ptr<wire> split(int color, int key) override { return alike(below_->split(color, key)); }
  std::unique_ptr<wire> split_by_node() override { return alike(below_->split_by_node()); }

  handle send(const blocks& from, int peer, int tag) override {
    const auto device = staged_device_of(from);
    if (!device && (lines_.empty() || !lines_.contains({peer, tag}))) return below_->send(from, peer, tag);
    return begin({job::kind::send, from, {}, device, {peer, tag}}, device, [this](job& j) { set_out(j); });
  }

  handle receive(const blocks& to, int peer, int tag) override {
    const auto device = staged_device_of(to);
    if (!device) return below_->receive(to, peer, tag);
    return begin({job::kind::receive, {}, to, device}, device, [&](job& j) {
      j.below = below_->receive(j.staged(), peer, tag);
      j.now = stage::in_flight;
    });
  }
  std::optional<arrival> next_arrival() override { return below_->next_arrival(); }
  handle receive(const arrival& which, const blocks& to) override {
    const auto device = staged_device_of(to);
    if (!device) return below_->receive(which, to);
    return begin({job::kind::receive, {}, to, device}, device, [&](job& j) {
      j.below = below_->receive(which, j.staged());
      j.now = stage::in_flight;
    });
  }

  handle prepare_send(const blocks& from, int peer, int tag) override {
    if (!stages_) return below_->prepare_send(from, peer, tag);
    const auto device = device_of(from);
    return begin({job::kind::send, from, {}, device, {peer, tag}, true}, device,
                 [&](job& j) { j.below = below_->prepare_send(j.outgoing(), peer, tag); });
  }
  void start(handle prepared, std::size_t bytes) override {
    if (!is_job(prepared)) return below_->start(prepared, bytes);
    set_out(of(prepared));
  }

  handle copy(const blocks& from, const blocks& to) override {
    const auto source = device_of(from), target = device_of(to);
    if (!source && !target) return wire::copy(from, to);
    if (source && target)
      return begin({job::kind::copy, from, to, source}, nullptr, [&](job& j) {
        j.copying = copies_.begin(from, to, direction::between, source);
        j.now = stage::landing;
      });
    if (source) return begin({job::kind::copy, from, to, source}, source, [this](job& j) { leave(j); });
    return begin({job::kind::copy, from, to, target}, target, [this](job& j) {
      comm::copy(j.from, j.staged());
      land(j);
    });
  }

  void cancel(handle receive) override { let_go(receive, &wire::cancel); }
  void forget(handle gone) override { let_go(gone, &wire::forget); }

  void test(std::span<handle> in_progress, std::vector<end>& ends) override {
    if (living_ == 0) return below_->test(in_progress, ends);
    asked_.clear();
    asker_.clear();
    const auto ask = [this](handle h, std::size_t i) {
      asked_.push_back(h);
      asker_.push_back(i);
    };
    for (std::size_t i = 0; i < in_progress.size(); ++i) {
      if (!is_job(in_progress[i])) {
        ask(in_progress[i], i);
        continue;
      }
      job& j = of(in_progress[i]);
      if (look(j))
        ends.push_back(ended(in_progress[i], i));
      else if (j.now == stage::in_flight)
        ask(j.below, i);
    }
    answers_.clear();
    below_->test(asked_, answers_);
    for (end& answer : answers_) {
      const std::size_t i = asker_[answer.index];
      if (!is_job(in_progress[i])) {
        in_progress[i] = asked_[answer.index];
        ends.push_back({i, answer.bytes, std::move(answer.error)});
        continue;
      }
      job& j = of(in_progress[i]);
      j.below = asked_[answer.index];  // a prepared one stays what it is
      if (has_arrived(j, answer)) ends.push_back(ended(in_progress[i], i));
    }
  }

 private:
  std::unique_ptr<wire> alike(std::unique_ptr<wire> below) const {
    return std::make_unique<device_wire>(std::move(below), stages_);
  }

  cuda::context staged_device_of(const blocks& memory) const { return stages_ ? device_of(memory) : nullptr; }

  job& of(handle h) { return *jobs_[h ^ mark]; }

  /// A job with pinned memory if it needs that, for `pinned_for`; nothing is left of one whose first step throws.
  template <class First>
  handle begin(job&& what, cuda::context pinned_for, First&& first) {
    if (free_.empty()) {
      free_.push_back(jobs_.size());
      jobs_.emplace_back();
    }
    const std::size_t at = free_.back();
    if (pinned_for) what.pinned = pinned_.take(what.size(), pinned_for);
    jobs_[at] = std::make_unique<job>(std::move(what));
    free_.pop_back();
    ++living_;
    try {
      first(*jobs_[at]);
    } catch (...) {
      remove(mark | at);
      throw;
    }
    return mark | at;
  }
  void remove(handle h) {
    if (const auto& pinned = of(h).pinned; pinned.data) pinned_.give_back(pinned);
    jobs_[h ^ mark].reset();
    free_.push_back(h ^ mark);
    --living_;
  }

  void leave(job& j) {
    j.copying = copies_.begin(j.from, j.staged(), direction::to_host, j.device);
    j.now = stage::leaving;
  }
  void land(job& j) {
    j.copying = copies_.begin(j.staged(), j.to, direction::to_device, j.device);
    j.now = stage::landing;
  }

  void set_out(job& j) {
    if (j.device)
      leave(j);
    else
      j.now = stage::in_line;
    lines_[j.in].push_back(&j);
    advance(j.in);
  }
  /// Begins the sends of a line whose turn has come.
  void advance(const line& which) {
    const auto found = lines_.find(which);
    if (found == lines_.end()) return;
    auto& waiting = found->second;
    for (; !waiting.empty() && waiting.front()->now == stage::in_line; waiting.pop_front()) {
      job& j = *waiting.front();
      try {
        if (j.prepared)
          below_->start(j.below, j.size());
        else
          j.below = below_->send(j.outgoing(), which.first, which.second);
        j.now = stage::in_flight;
      } catch (const std::exception& e) {
        fail(j, e.what());
      }
    }
    if (waiting.empty()) lines_.erase(found);
  }
  void step_out(job& j) {
    const auto found = lines_.find(j.in);
    if (found == lines_.end()) return;
    std::erase(found->second, &j);
    advance(line(j.in));
  }
  static void fail(job& j, const char* why) {
    j.error = why;
    j.now = stage::failed;
  }

  /// True when it has ended; what moves below is looked at there.
  bool look(job& j) {
    try {
      if (j.now == stage::landing) return copies_.done(j.copying);
      if (j.now == stage::leaving && copies_.done(j.copying)) {
        if (j.what == job::kind::copy) {
          comm::copy(j.staged(), j.to);
          return true;
        }
        j.now = stage::in_line;
        advance(line(j.in));
      }
    } catch (const std::exception& e) {
      fail(j, e.what());
      step_out(j);
    }
    return j.now == stage::failed;
  }

  /// Returns whether that ends it; otherwise the bytes are copied to the device.
  bool has_arrived(job& j, end& below) {
    j.received = below.bytes;
    j.error = std::move(below.error);
    if (j.what != job::kind::receive || !j.error.empty() || j.received != j.size()) return true;
    try {
      land(j);
    } catch (const std::exception& e) {
      fail(j, e.what());
    }
    return j.now == stage::failed;
  }

  end ended(handle h, std::size_t index) {
    job& j = of(h);
    end last{index, j.received, std::exchange(j.error, {})};
    if (j.prepared)
      j.now = stage::idle;
    else
      remove(h);
    return last;
  }

  void let_go(handle h, void (wire::*how)(handle)) {
    if (!is_job(h)) return (*below_.*how)(h);
    job& j = of(h);
    if (j.what == job::kind::send) step_out(j);
    if (j.now == stage::leaving || j.now == stage::landing) copies_.wait(j.copying);
    if (j.now == stage::in_flight) j.pinned = {};  // left to MPI, which may read or write it for ever
    if (j.now == stage::in_flight || j.prepared) (*below_.*how)(j.below);
    remove(h);
  }

  std::unique_ptr<wire> below_;
  const bool stages_;
  pinned_pool pinned_;
  device_copies copies_;
  std::vector<std::unique_ptr<job>> jobs_;
  std::vector<std::size_t> free_;
  std::size_t living_ = 0;
  std::map<line, std::deque<job*>> lines_;
  std::vector<handle> asked_;  // of test()
  std::vector<std::size_t> asker_;
  std::vector<end> answers_;
};

}  // namespace

std::unique_ptr<wire> with_device_memory(std::unique_ptr<wire> below, bool below_takes_device_memory) {
  if (!cuda::find_driver()) return below;
  return std::make_unique<device_wire>(std::move(below), !below_takes_device_memory);
}

}  // namespace plaq::comm
