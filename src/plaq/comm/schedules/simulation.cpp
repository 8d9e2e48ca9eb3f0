#include "plaq/comm/schedules/simulation.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/comm/schedules/schedule_runner.hpp"

namespace plaq::comm {

namespace {

class world_clock;

/// One rank: its schedule on the way, its steps carried out on the simulated clock.
class simulated_rank final : public executor {
 public:
  void begin(world_clock& clock, int rank, schedule todo);
  bool start(std::uint32_t number, const step& s) override;
  void finished(std::vector<std::uint32_t>& numbers) override {
    numbers.insert(numbers.end(), done_.begin(), done_.end());
    done_.clear();
  }
  /// Goes on at the time when these steps became complete.
  bool progress() { return engine_.progress(); }
  void complete(std::uint32_t number) { done_.push_back(number); }
  bool done() const { return engine_.done(); }

 private:
  world_clock* clock_ = nullptr;
  int rank_ = 0;
  schedule todo_;
  schedule_runner engine_;
  std::vector<std::uint32_t> done_;
};

/// Time, cores, ports and messages of the machine.
class world_clock {
 public:
  world_clock(const machine& on, int ranks)
      : on_(on),
        ranks_(ranks),
        per_node_(on.levels.front().ranks),
        cores_(on.cores > 0 ? on.cores : per_node_),
        core_(std::size_t((ranks + per_node_ - 1) / per_node_) * std::size_t(cores_)),
        all_(std::size_t(ranks)) {
    for (std::size_t l = 0; l < on.levels.size(); ++l)
      ports_.emplace_back(std::size_t((ranks - 1) / unit(l) + 1) * 2, 0.0);
  }

  simulation_result run(const request& wanted, const method& by) {
    std::vector<int> node(std::size_t(ranks_), 0);
    for (int r = 0; r < ranks_; ++r) node[std::size_t(r)] = r / per_node_;
    const node_map map(node);
    for (int r = 0; r < ranks_; ++r) all_[std::size_t(r)].begin(*this, r, make_schedule(wanted, by, map, r));
    for (int r = 0; r < ranks_; ++r) all_[std::size_t(r)].progress();
    while (!events_.empty()) {
      const event e = events_.top();
      events_.pop();
      now_ = e.time;
      handle(e);
    }
    for (const auto& r : all_) check(r.done(), "deadlock of the simulated ranks");
    for (const auto& c : core_) total_.seconds = std::max(total_.seconds, c.free);
    return total_;
  }

  /// The rank's core works for `seconds`, as soon as it is free.
  double work(int rank, double seconds) {
    auto& c = core_[std::size_t(rank / per_node_) * std::size_t(cores_) + std::size_t(rank % per_node_ % cores_)];
    if (c.rank != rank && c.rank >= 0) seconds += on_.turn;
    c.rank = rank;
    return c.free = std::max(now_, c.free) + seconds;
  }
  double combine(int rank, std::size_t bytes) { return work(rank, double(bytes) * on_.combine_per_byte); }

  /// True if the sender's buffer is free at once.
  bool send(int from, int to, std::size_t bytes, std::uint32_t number) {
    const double begin = work(from, on_.overhead);
    const bool eager = bytes <= on_.eager;
    const int level = common(from, to);
    ++total_.messages;
    if (level > 0) ++total_.between_nodes, total_.bytes_between_nodes += bytes;
    const double arrives = eager ? transfer(from, to, bytes, begin) : begin + on_.levels[std::size_t(level)].latency;
    push(arrives, {from, to, bytes, number, no_step, eager ? event::arrived : event::announced});
    return eager;
  }

  void receive(int to, int from, std::uint32_t number) {
    auto& l = lines_[key(from, to)];
    if (l.here.empty()) return l.wanted.push_back(number);
    message m = l.here.front();
    l.here.pop_front();
    m.receive_number = number;
    meet(m, std::max(now_, core_time(to)));
  }

 private:
  static constexpr std::uint32_t no_step = ~std::uint32_t(0);
  struct message {
    int from, to;
    std::size_t bytes;
    std::uint32_t send_number, receive_number;
    int state;
  };
  struct event : message {
    enum { arrived, announced, go, taken };
    double time;
    std::uint64_t order;
    bool operator<(const event& other) const { return std::pair(time, order) > std::pair(other.time, other.order); }
  };
  struct line {
    std::deque<message> here;
    std::deque<std::uint32_t> wanted;
  };
  struct core {
    double free = 0;
    int rank = -1;
  };

  std::uint64_t key(int from, int to) const { return std::uint64_t(from) * std::uint64_t(ranks_) + std::uint64_t(to); }
  double core_time(int rank) const {
    return core_[std::size_t(rank / per_node_) * std::size_t(cores_) + std::size_t(rank % per_node_ % cores_)].free;
  }
  /// Ranks of what has a port at this level.
  int unit(std::size_t level) const { return level == 0 ? 1 : on_.levels[level - 1].ranks; }
  int common(int a, int b) const {
    int l = 0;
    while (l + 1 < int(on_.levels.size()) &&
           a / on_.levels[std::size_t(l)].ranks != b / on_.levels[std::size_t(l)].ranks)
      ++l;
    return l;
  }

  /// When the last byte arrives, if it may leave at `begin`.
  double transfer(int from, int to, std::size_t bytes, double begin) {
    const int top = common(from, to);
    double head = begin, slowest = 0;
    const auto pass = [&](std::size_t level, int rank, int direction) {
      const auto& l = on_.levels[level];
      auto& free = ports_[level][std::size_t(rank / unit(level)) * 2 + std::size_t(direction)];
      head = std::max(head, free);
      const double takes = std::max(l.gap, double(bytes) * l.per_byte);
      free = head + takes;
      slowest = std::max(slowest, double(bytes) * l.per_byte);
    };
    if (top == 0) {
      pass(0, from, 0);
    } else {
      for (int l = 1; l <= top; ++l) pass(std::size_t(l), from, 0);
      for (int l = top; l >= 1; --l) pass(std::size_t(l), to, 1);
    }
    return head + slowest + on_.levels[std::size_t(top)].latency;
  }

  void push(double time, const message& m) { events_.push({m, time, order_++}); }

  /// A message and its receive have found each other at this time.
  void meet(message m, double time) {
    if (m.state == event::arrived) {
      m.state = event::taken;
      push(time, m);
    } else {
      m.state = event::go;
      push(time + on_.levels[std::size_t(common(m.from, m.to))].latency, m);
    }
  }

  void handle(const event& e) {
    message m = e;
    switch (m.state) {
      case event::arrived:
      case event::announced: {
        auto& l = lines_[key(m.from, m.to)];
        if (l.wanted.empty()) return l.here.push_back(m);
        m.receive_number = l.wanted.front();
        l.wanted.pop_front();
        return meet(m, now_);
      }
      case event::go: {
        const double arrives = transfer(m.from, m.to, m.bytes, now_);
        m.state = event::taken;
        return push(arrives, m);
      }
      case event::taken: {
        work(m.to, on_.overhead);
        auto& to = all_[std::size_t(m.to)];
        to.complete(m.receive_number);
        to.progress();
        if (m.bytes > on_.eager) {
          auto& from = all_[std::size_t(m.from)];
          from.complete(m.send_number);
          from.progress();
        }
      }
    }
  }

  const machine& on_;
  int ranks_, per_node_, cores_;
  double now_ = 0;
  std::uint64_t order_ = 0;
  std::vector<core> core_;
  std::vector<std::vector<double>> ports_;  // [level][unit, direction]: when the port is free
  std::vector<simulated_rank> all_;
  std::priority_queue<event> events_;
  std::unordered_map<std::uint64_t, line> lines_;
  simulation_result total_{};
};

void simulated_rank::begin(world_clock& clock, int rank, schedule todo) {
  clock_ = &clock;
  rank_ = rank;
  todo_ = std::move(todo);
  engine_.begin(todo_, *this);
}

bool simulated_rank::start(std::uint32_t number, const step& s) {
  switch (s.what) {
    case step::action::send: return clock_->send(rank_, s.peer, s.size, number);
    case step::action::receive: clock_->receive(rank_, s.peer, number); return false;
    case step::action::copy:
    case step::action::combine: clock_->combine(rank_, s.size); return true;
  }
  return true;
}

}  // namespace

simulation_result simulate(const request& wanted, const method& by, const machine& on, int ranks) {
  if (ranks < 1) throw input_error("a simulated job has " + std::to_string(ranks) + " ranks");
  if (on.levels.empty()) throw input_error("a simulated machine needs at least one level");
  for (std::size_t i = 0; i < on.levels.size(); ++i) {
    const auto& l = on.levels[i];
    if (l.ranks < 1 || (i > 0 && (l.ranks <= on.levels[i - 1].ranks || l.ranks % on.levels[i - 1].ranks != 0)))
      throw input_error("level " + std::to_string(i) + " of a simulated machine holds " + std::to_string(l.ranks) +
                        " ranks, which is not a multiple of the level below");
    if (!(l.latency >= 0 && l.gap >= 0 && l.per_byte >= 0))
      throw input_error("level " + std::to_string(i) + " of a simulated machine has a negative time");
  }
  return world_clock(on, ranks).run(wanted, by);
}

}  // namespace plaq::comm
