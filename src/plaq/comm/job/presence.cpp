#include "plaq/comm/job/presence.hpp"

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
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "plaq/comm/collectives/collectives.hpp"
#include "plaq/comm/collectives/roll_call.hpp"
#include "plaq/comm/job/end.hpp"
#include "plaq/comm/mpi/library.hpp"

namespace plaq::comm {

namespace {

using clock = std::chrono::steady_clock;
double since(clock::time_point then) { return std::chrono::duration<double>(clock::now() - then).count(); }

constexpr std::chrono::milliseconds look{50};
constexpr double grace = 5.0;                // seconds between the ends of ranks that end together
constexpr double patience_with_calls = 2.0;  // seconds for which a collective call may be under way unquestioned
constexpr int question = 0, answer = 1;      // tags

/// Message between ranks. A question is about a collective call, or, where that has no group, about the rank alone.
struct words {
  int doing = 0;
  double still = 0;
  roll_call::question asked = {};
  roll_call::answer found = {};
};

/// Processor time of the thread that made it.
class work_clock {
 public:
  work_clock() {
#if defined(__linux__)
    pthread_getcpuclockid(pthread_self(), &id_);
#endif
  }
  /// Seconds for which that thread has not worked.
  double still() {
    timespec now{};
    clock_gettime(id_, &now);
    if (now.tv_sec != last_.tv_sec || now.tv_nsec != last_.tv_nsec) last_ = now, moved_ = clock::now();
    return since(moved_);
  }

 private:
  clockid_t id_ = CLOCK_PROCESS_CPUTIME_ID;
  timespec last_{};
  clock::time_point moved_ = clock::now();
};

}  // namespace

struct presence::implementation {
  explicit implementation(const communicator& world)
      : own(world.split(0, world.rank())), wires(own.open_wire()), ends(own), last(std::size_t(own.size())) {
    roll_call::set_world_rank(own.rank());
  }

  /// The thread.
  void serve() {
    while (!done) {
      std::this_thread::sleep_for(look);
      const double still = work.still();
      while (const auto came = wires->next_arrival()) take(*came, still);
      put_questions();
      if (patience > 0) look_after_calls();
      clean_up();
    }
  }

  void take(const wire::arrival& came, double still) {
    words said;
    std::vector<wire::end> over;
    wire::handle h = wires->receive(came, {reinterpret_cast<std::byte*>(&said), sizeof(said), 1, 0});
    while (over.empty()) wires->test({&h, 1}, over);  // it is here
    if (came.tag == question) return send(reply(said.asked, still), came.peer, answer);
    unanswered.erase(came.peer);
    if (said.asked.group != 0) return judge(said, came.peer);
    std::lock_guard lock(guard);
    last[std::size_t(came.peer)] = {clock::now(), said};
  }

  words reply(const roll_call::question& asked, double still) const {
    words out{int(state.load()), still, asked, {}};
    if (asked.group == 0) return out;
    out.found = roll_call::to(asked);
    // Of a rank that ends with an error, that is what there is to say.
    if (out.found.what == roll_call::verdict::never && code != 0) out.found.what = roll_call::verdict::agrees;
    return out;
  }

  /// Asks the ranks that a collective call of this one has waited for whether they make the same call.
  void look_after_calls() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, call_under_way> now;
    for (auto& one : roll_call::open_calls()) {
      const std::pair at{one.asked.group, one.asked.number};
      const auto before = calls.find(at);
      auto& call = now[at] = before == calls.end() ? call_under_way{} : before->second;
      call.in_words = one.in_words;
      if (since(call.began) < patience_with_calls || since(call.put) < 1) continue;
      call.put = clock::now();
      for (const int rank : std::set(one.awaited.begin(), one.awaited.end()))
        if (rank != wires->rank()) {
          send({0, 0, one.asked, {}}, rank, question);
          unanswered.try_emplace(rank, clock::now());
        }
    }
    calls.swap(now);
    for (const auto& [rank, then] : unanswered)
      if (since(then) > patience)
        end_job(name(rank) + " gives no sign of life, and " + name(wires->rank()) + " waits for it");
  }

  /// An answer about a call that has perhaps ended meanwhile.
  void judge(const words& said, int peer) {
    const auto found = calls.find({said.asked.group, said.asked.number});
    if (found == calls.end()) return;
    const std::string mine = name(wires->rank()) + " waits in " + found->second.in_words;
    if (said.found.what == roll_call::verdict::other)
      end_job("the ranks do not make the same call: " + mine + ", " + name(peer) + " has called " +
              said.found.call.data());
    if (said.found.what == roll_call::verdict::never)
      end_job(name(peer) +
              (said.doing == int(doing::ended) ? " has ended, and " : " has let go of its collectives, and ") + mine);
  }

  std::string name(int rank) const { return "rank " + std::to_string(rank) + " of " + std::to_string(wires->size()); }

  [[noreturn]] void end_job(const std::string& why) const {
    std::fprintf(stderr, "plaq: error: %s\n", why.c_str());
    abort_job(1);
  }

  void put_questions() {
    std::lock_guard lock(guard);
    if (asked.empty() || since(put) < period) return;
    put = clock::now();
    for (const int rank : asked)
      if (rank != wires->rank()) send({}, rank, question);
  }

  void send(words what, int peer, int tag) {
    auto& m = under_way.emplace_back(what, wire::nothing);
    m.second = wires->send({reinterpret_cast<std::byte*>(&m.first), sizeof(words), 1, 0}, peer, tag);
  }

  void clean_up() {
    std::vector<wire::end> over;
    std::erase_if(under_way, [&](auto& m) {
      over.clear();
      wires->test({&m.second, 1}, over);
      return !over.empty();
    });
  }

  const communicator own;
  std::unique_ptr<wire> wires;  // of the thread
  collectives ends;             // of the main thread, for the end
  work_clock work;
  std::atomic<doing> state{doing::works};
  std::atomic<bool> done{false}, agreed{false};
  std::atomic<int> code{0};         // that this rank ends with
  std::atomic<double> patience{0};  // seconds for a rank that says nothing; 0: calls are not looked after
  std::list<std::pair<words, wire::handle>> under_way;

  // Of the thread:
  struct call_under_way {
    clock::time_point began = clock::now(), put = {};
    std::string in_words = {};
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, call_under_way> calls;  // by group and number
  std::map<int, clock::time_point> unanswered;                              // since when a rank owes an answer

  std::thread thread;

  mutable std::mutex guard;
  std::vector<int> asked;
  double period = 1;
  clock::time_point put{};
  std::vector<std::optional<std::pair<clock::time_point, words>>> last;  // [rank]
};

presence& presence::in(const communicator& world) {
  static presence* const only = new presence(world);
  return *only;
}

presence::presence(const communicator& world) : work_(new implementation(world)) {
  sigset_t all, before;  // signals are for the main thread
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  work_->thread = std::thread([work = work_] { work->serve(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#if defined(__GLIBC__)
  on_exit(&presence::leave, this);
#else
  static presence* self = this;
  std::atexit([] { leave(0, self); });
#endif
}

void presence::waits(bool yes) { work_->state = yes ? doing::waits : doing::works; }

void presence::ask(std::vector<int> ranks, double period) {
  std::lock_guard lock(work_->guard);
  work_->asked = std::move(ranks);
  work_->period = period;
  work_->put = {};
  for (auto& l : work_->last) l.reset();
}

std::vector<presence::sign> presence::heard() const {
  std::lock_guard lock(work_->guard);
  std::vector<sign> all(work_->last.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (const auto& l = work_->last[rank]) all[rank] = {since(l->first), doing(l->second.doing), l->second.still};
  return all;
}

void presence::look_after_calls(double patience) { work_->patience = patience; }

void presence::ends_together() { work_->agreed = true; }

/// MPI ends after this, in all ranks together.
void presence::leave(int code, void* self) {
  auto& work = *static_cast<presence*>(self)->work_;
  if (is_aborting() || !mpi_is_running()) return;
  work.code = code;
  work.state = doing::ended;
  const auto left = clock::now();
  try {
    for (auto all = work.ends.ibarrier(); all.wait_for(look) != std::future_status::ready;)
      if (code != 0 && !work.agreed && since(left) > grace) {
        std::fprintf(stderr, "plaq: error: rank %d of %d ended with exit code %d, and the job with it\n",
                     work.wires->rank(), work.wires->size(), code);
        abort_job(code);
      }
  } catch (const std::exception&) {  // MPI is broken, and so is the job
    std::_Exit(code != 0 ? code : 1);
  }
  work.done = true;
  work.thread.join();
}

}  // namespace plaq::comm
