#include "plaq/comm/job/heartbeat.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "plaq/comm/collectives/call_registry.hpp"
#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/job/abort.hpp"
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

namespace {

using clock = std::chrono::steady_clock;
double seconds_since(clock::time_point then) { return std::chrono::duration<double>(clock::now() - then).count(); }

constexpr std::chrono::milliseconds period_of_thread{50};
constexpr double grace = 5.0;         // seconds between the ends of ranks that end together
constexpr double call_timeout = 2.0;  // seconds in progress after which a collective call is checked
constexpr int query_tag = 0, report_tag = 1;

/// Message between ranks. A query is about a collective call, or about the rank alone if it has no group.
struct heartbeat_message {
  int activity = 0;
  double idle = 0;
  call_registry::query query = {};
  call_registry::answer answer = {};
};

/// Clock of the processor time of the thread that made it.
class work_clock {
 public:
  work_clock() {
#if defined(__linux__)
    pthread_getcpuclockid(pthread_self(), &id_);
#endif
  }
  /// Seconds for which that thread has used no processor.
  double idle() {
    timespec now{};
    clock_gettime(id_, &now);
    if (now.tv_sec != last_.tv_sec || now.tv_nsec != last_.tv_nsec) last_ = now, moved_ = clock::now();
    return seconds_since(moved_);
  }

 private:
  clockid_t id_ = CLOCK_PROCESS_CPUTIME_ID;
  timespec last_{};
  clock::time_point moved_ = clock::now();
};

}  // namespace

struct heartbeat::implementation {
  explicit implementation(const communicator& world)
      : own(world.split(0, world.rank())), wires(own.open_wire()), at_end(own) {
    call_registry::set_world_rank(own.rank());
  }

  /// Runs the thread.
  void serve() {
    while (!done) {
      std::this_thread::sleep_for(period_of_thread);
      const double idle = work.idle();
      while (const auto arrived = wires->next_arrival()) receive(*arrived, idle);
      send_polls();
      if (timeout > 0) check_calls();
      drop_sent();
    }
  }

  void receive(const wire::arrival& arrived, double idle) {
    heartbeat_message m;
    std::vector<wire::end> ends;
    wire::handle h = wires->receive(arrived, {reinterpret_cast<std::byte*>(&m), sizeof(m), 1, 0});
    while (ends.empty()) wires->test({&h, 1}, ends);  // it has arrived
    if (arrived.tag == query_tag) return send(reply(m.query, idle), arrived.peer, report_tag);
    unanswered.erase(arrived.peer);
    if (m.query.group != 0) return check_answer(m, arrived.peer);
    std::lock_guard lock(guard);
    last[arrived.peer] = {clock::now(), m};
  }

  heartbeat_message reply(const call_registry::query& query, double idle) const {
    heartbeat_message out{int(state.load()), idle, query, {}};
    if (query.group == 0) return out;
    out.answer = call_registry::answer_to(query);
    // A rank that ends with an error reports that error instead.
    if (out.answer.what == call_registry::agreement::never && code != 0)
      out.answer.what = call_registry::agreement::same;
    return out;
  }

  /// Asks the ranks that a collective call of this one waits for whether they make the same call.
  void check_calls() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, call_under_way> now;
    for (auto& open : call_registry::open_calls()) {
      const std::pair at{open.query.group, open.query.number};
      const auto before = calls.find(at);
      auto& call = now[at] = before == calls.end() ? call_under_way{} : before->second;
      call.in_words = open.in_words;
      if (seconds_since(call.began) < call_timeout || seconds_since(call.last_query) < 1) continue;
      call.last_query = clock::now();
      for (const int rank : std::set(open.awaited.begin(), open.awaited.end()))
        if (rank != wires->rank()) {
          send({0, 0, open.query, {}}, rank, query_tag);
          unanswered.try_emplace(rank, clock::now());
        }
    }
    calls.swap(now);
    for (const auto& [rank, then] : unanswered)
      if (seconds_since(then) > timeout)
        end_job(name(rank) + " does not respond, and " + name(wires->rank()) + " waits for it");
  }

  /// Aborts the job if the answer about a call, which may have ended meanwhile, is a disagreement.
  void check_answer(const heartbeat_message& m, int peer) {
    const auto found = calls.find({m.query.group, m.query.number});
    if (found == calls.end()) return;
    const std::string own = name(wires->rank()) + " waits in " + found->second.in_words;
    if (m.answer.what == call_registry::agreement::other)
      end_job("ranks call different collective operations: " + own + ", " + name(peer) + " has called " +
              m.answer.call.data());
    if (m.answer.what == call_registry::agreement::never)
      end_job(name(peer) +
              (m.activity == int(activity::ended) ? " has ended, and " : " has destroyed its collectives, and ") + own);
  }

  std::string name(int rank) const { return "rank " + std::to_string(rank) + " of " + std::to_string(wires->size()); }

  [[noreturn]] void end_job(const std::string& why) const {
    std::fprintf(stderr, "plaq: error: %s\n", why.c_str());
    abort_job(1);
  }

  void send_polls() {
    std::lock_guard lock(guard);
    if (polled.empty() || seconds_since(last_poll) < period) return;
    last_poll = clock::now();
    for (const int rank : polled)
      if (rank != wires->rank()) send({}, rank, query_tag);
  }

  void send(const heartbeat_message& what, int peer, int tag) {
    auto& m = in_progress.emplace_back(what, wire::nothing);
    m.second = wires->send({reinterpret_cast<std::byte*>(&m.first), sizeof(heartbeat_message), 1, 0}, peer, tag);
  }

  /// Drops messages that have been sent.
  void drop_sent() {
    std::vector<wire::end> ends;
    std::erase_if(in_progress, [&](auto& m) {
      ends.clear();
      wires->test({&m.second, 1}, ends);
      return !ends.empty();
    });
  }

  const communicator own;
  std::unique_ptr<wire> wires;  // of the thread
  collectives at_end;           // of the main thread
  work_clock work;
  std::atomic<activity> state{activity::works};
  std::atomic<bool> done{false}, agreed{false};
  std::atomic<int> code{0};        // that this rank ends with
  std::atomic<double> timeout{0};  // seconds without a reply; 0: calls are not checked
  std::list<std::pair<heartbeat_message, wire::handle>> in_progress;

  // Of the thread:
  struct call_under_way {
    clock::time_point began = clock::now(), last_query = {};
    std::string in_words = {};
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, call_under_way> calls;  // by group and number
  std::map<int, clock::time_point> unanswered;  // times of queries without an answer, by rank

  std::thread thread;

  mutable std::mutex guard;
  std::vector<int> polled;
  double period = 1;
  clock::time_point last_poll{};
  std::map<int, std::pair<clock::time_point, heartbeat_message>> last;  // by polled rank
};

heartbeat& heartbeat::in(const communicator& world) {
  static heartbeat* const only = new heartbeat(world);
  return *only;
}

heartbeat::heartbeat(const communicator& world) : work_(new implementation(world)) {
  sigset_t all, before;  // signals are for the main thread
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  work_->thread = std::thread([work = work_] { work->serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#if defined(__GLIBC__)
  on_exit(&heartbeat::leave, this);
#else
  static heartbeat* self = this;
  std::atexit([] { leave(0, self); });
#endif
}

void heartbeat::set_waiting(bool yes) { work_->state = yes ? activity::waits : activity::works; }

void heartbeat::poll(std::vector<int> ranks, double period) {
  std::lock_guard lock(work_->guard);
  work_->polled = std::move(ranks);
  work_->period = period;
  work_->last_poll = {};
  work_->last.clear();
}

heartbeat::report heartbeat::report_of(int rank) const {
  std::lock_guard lock(work_->guard);
  const auto found = work_->last.find(rank);
  if (found == work_->last.end()) return {};
  const auto& [arrived, message] = found->second;
  return {seconds_since(arrived), activity(message.activity), message.idle};
}

int heartbeat::size() const { return work_->wires->size(); }

void heartbeat::check_calls(double timeout) { work_->timeout = timeout; }

void heartbeat::agree_to_end() { work_->agreed = true; }

/// Waits for the end of the other ranks; MPI ends after this.
void heartbeat::leave(int code, void* self) {
  auto& work = *static_cast<heartbeat*>(self)->work_;
  if (is_aborting() || !mpi_is_running()) return;
  work.code = code;
  work.state = activity::ended;
  const auto left = clock::now();
  try {
    for (auto all = work.at_end.ibarrier(); all.wait_for(period_of_thread) != std::future_status::ready;)
      if (code != 0 && !work.agreed && seconds_since(left) > grace) {
        std::fprintf(stderr, "plaq: error: rank %d of %d ended with exit code %d, which ended the job\n",
                     work.wires->rank(), work.wires->size(), code);
        abort_job(code);
      }
  } catch (const std::exception&) {  // MPI has failed
    std::_Exit(code != 0 ? code : 1);
  }
  work.done = true;
  work.thread.join();
}

}  // namespace plaq::comm
