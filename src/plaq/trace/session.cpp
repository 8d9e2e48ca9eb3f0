#include "plaq/trace/session.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <semaphore>
#include <set>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/trace/buffer.hpp"
#include "plaq/trace/counters.hpp"
#include "plaq/trace/file.hpp"
#include "plaq/trace/gpu.hpp"
#include "plaq/trace/gpu_activity.hpp"
#include "plaq/trace/hooks.hpp"
#include "plaq/trace/json.hpp"
#include "plaq/trace/processor_counters.hpp"

namespace plaq::trace {

using detail::block;
using detail::json_object;
using detail::ring;

namespace {

std::atomic<bool> taken{false};
std::counting_semaphore<> wake_ups{0};
constexpr std::uint64_t no_thread = ~std::uint64_t(0);  // events of threads that had no ring
constexpr std::uint64_t gpu_thread = no_thread - 1;     // operations of GPUs

std::string first_line(const char* path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::string thread_name(long id) {
  if (id < 0) return "";
  const auto folder = std::filesystem::path("/proc/self/task") / std::to_string(id);
  return first_line((folder / "comm").c_str());
}

std::string host_name() {
  char name[256] = "";
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::filesystem::path file_of(const session_options& o) {
  if (o.rank < 0) throw input_error("trace: rank = " + std::to_string(o.rank) + ": it counts from 0");
  if (o.period < std::chrono::milliseconds(1)) throw input_error("trace: the period must be 1 ms or longer");
  std::error_code failed;
  std::filesystem::create_directories(o.folder, failed);
  if (failed) throw runtime_failure(o.folder.string() + ": cannot be made: " + failed.message());
  char name[32];
  std::snprintf(name, sizeof name, "rank-%04d.plaqtrace", o.rank);
  return o.folder / name;
}

/// Claim on the one session of the process.
class claim {
 public:
  claim() {
    if (taken.exchange(true)) throw input_error("trace: another session records in this process");
  }
  ~claim() { taken = false; }
};

/// Choice of the counters that threads read at their events.
class counters_of_threads {
 public:
  explicit counters_of_threads(const std::vector<std::string>& names) { detail::choose_processor_counters(names); }
  ~counters_of_threads() { detail::choose_processor_counters({}); }
};

/// Scope in which no signal comes to this thread, and none ever to a thread that is made meanwhile: signals are for the
/// program's own threads, and one from a write must not end the process.
class no_signals {
 public:
  no_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~no_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Stops recording in a forked child, which has no session thread.
void children_do_not_record() {
  static const int once = ::pthread_atfork(nullptr, nullptr, [] { detail::audience = detail::none; });
  static_cast<void>(once);
}

}  // namespace

void detail::wake_session() noexcept { wake_ups.release(); }

class session::implementation {
 public:
  explicit implementation(const session_options& o)
      : chosen_(o.counters), path_(file_of(o)), file_(path_), period_(o.period), owner_(::getpid()) {
    children_do_not_record();
    detail::set_ring_size(std::bit_ceil(std::max(o.ring_bytes / sizeof(detail::record), std::size_t(8))));
    lost_before_ = detail::lost_without_ring();
    for (ring* r : detail::rings()) {
      if (r->abandoned.load(std::memory_order_acquire))
        detail::free_ring(r);
      else
        r->forget();
    }
    ++detail::session_number;
    file_.add(block::process, description(o));
    write_clocks(read_both_clocks());
    detail::audience.fetch_or(detail::to_session);
    try {
      const no_signals at_birth;
      thread_ = std::thread([this] { work(); });
    } catch (...) {
      detail::audience.fetch_and(~unsigned(detail::to_session));
      throw;
    }
  }

  void close() noexcept {
    if (::getpid() != owner_) {
      if (thread_.joinable()) thread_.detach();
      return;
    }
    if (!thread_.joinable()) return;
    detail::audience.fetch_and(~unsigned(detail::to_session));
    stop_ = true;
    wake_ups.release();
    thread_.join();
  }

  void set_clock_offset(double seconds, double error) {
    std::lock_guard lock(lock_);
    file_.add_values(block::offset, std::vector<double>{seconds, error, 1e-9 * double(detail::monotonic_ns())});
  }

  const std::filesystem::path& path() const { return path_; }
  std::string problem() const {
    std::lock_guard lock(lock_);
    return file_.problem();
  }

 private:
  using clock = std::chrono::steady_clock;

  std::string description(const session_options& o) const {
    json_object notes;
    for (const auto& [name, text] : o.notes) notes.add(name, text);
    std::string counters;
    for (const std::string& name : o.counters) counters.append(counters.empty() ? "" : ", ").append(name);
    return json_object()
        .add("rank", o.rank)
        .add("pid", owner_)
        .add("host", host_name())
        .add("boot", first_line("/proc/sys/kernel/random/boot_id"))  // processes with one share CLOCK_MONOTONIC
        .add("clock", clock_name())
        .add("period_ms", o.period.count())
        .add("counters", counters)
        .add("notes", notes)
        .text();
  }

  void work() noexcept {
    ::pthread_setname_np(::pthread_self(), "plaq trace");
    auto next_sample = clock::now();
    for (bool last = false; !last && problem().empty();) {
      last = stop_;
      const bool sample_now = last || clock::now() >= next_sample;
      write_all(sample_now, last);
      if (sample_now) next_sample = std::max(next_sample + period_, clock::now());
      if (!last) wait_until(next_sample);
    }
    detail::audience.fetch_and(~unsigned(detail::to_session));
    if (problem().empty()) file_.set_state("closed");
  }

  void write_all(bool sample_now, bool last) {
    std::lock_guard lock(lock_);
    if (sample_now) write_samples();
    const gpu_activity::collected on_gpus = sample_now ? gpu_activity_.collect(last) : gpu_activity::collected();
    const clock_pair all_until = read_both_clocks();
    write_events();
    write_gpu(on_gpus);
    write_clocks(all_until);  // last, so that a file that ends early records how far it is complete
  }

  static void wait_until(clock::time_point when) {
    if (!wake_ups.try_acquire_until(when)) return;
    while (wake_ups.try_acquire()) {
    }
  }

  void write_clocks(clock_pair now) { file_.add_values(block::clocks, std::vector<clock_pair>{now}); }

  void write_events() {
    struct part {
      ring* of;
      std::uint64_t end;
      bool abandoned;
    };
    std::vector<part> parts;
    for (ring* r : detail::rings()) {
      const bool abandoned = r->abandoned.load(std::memory_order_acquire);
      parts.push_back({r, r->written(), abandoned});
    }
    // All names that these events use are known now.
    write_names();
    for (const part& p : parts) {
      const auto pieces = p.of->pieces(p.of->read(), p.end);
      if (known_threads_.insert(p.of->number()).second) write_thread(*p.of);
      const auto bytes = [](const ring::piece& x) {
        return iovec{const_cast<detail::record*>(x.first), x.count * sizeof(detail::record)};
      };
      const auto number = std::uint64_t(p.of->number()), lost = p.of->lost();
      if (p.end > p.of->read() || lost) file_.add(block::events, {bytes(pieces[0]), bytes(pieces[1])}, number, lost);
      p.of->consume(p.end);
      if (p.abandoned) detail::free_ring(p.of);
    }
    if (const auto lost = detail::lost_without_ring() - lost_before_; lost > 0)
      file_.add(block::events, {}, no_thread, lost);
  }

  /// Writes operations of GPUs, after the names in them.
  void write_gpu(const gpu_activity::collected& seen) {
    if (!seen.intervals.empty()) file_.add_values(block::gpu, seen.intervals);
    if (!seen.calls.empty()) file_.add_values(block::gpu_calls, seen.calls);
    lost_on_gpus_ += seen.lost;
    if (seen.lost > 0) file_.add(block::events, {}, gpu_thread, lost_on_gpus_);
  }

  void write_names() {
    const auto fresh = detail::names_from(names_);
    if (fresh.empty()) return;
    std::string list;
    for (const std::string& name : fresh) list.append(list.empty() ? "[" : ",").append(detail::json_text(name));
    file_.add(block::names, list.append("]"));
    names_ += fresh.size();
  }

  void write_thread(const ring& r) {
    const auto thread = json_object().add("id", r.kernel_id()).add("name", r.thread_name());
    file_.add(block::thread, thread.text(), std::uint64_t(r.number()));
  }

  void write_samples() {
    struct value {
      std::uint64_t series;
      double value;
    };
    std::vector<value> values;
    const std::uint64_t before = ticks();
    for (const sample& s : read_counters()) {
      const auto [found, fresh] = series_.try_emplace({s.name, s.worker, s.thread}, series_.size());
      if (fresh)
        file_.add(block::series, json_object()
                                     .add("name", s.name)
                                     .add("unit", s.unit)
                                     .add("worker", s.worker)
                                     .add("thread", s.thread)
                                     .add("thread name", thread_name(s.thread))
                                     .text());
      values.push_back({found->second, s.value});
    }
    std::uint64_t when = before + (ticks() - before) / 2;
    file_.add(block::samples, {{&when, sizeof when}, {values.data(), values.size() * sizeof(value)}});
  }

  claim only_one_;
  counters_of_threads chosen_;
  std::filesystem::path path_;
  detail::file file_;
  std::chrono::milliseconds period_;
  const pid_t owner_;
  mutable std::mutex lock_;  ///< of the file
  std::atomic<bool> stop_{false};
  std::uint64_t lost_before_ = 0;
  std::size_t names_ = 0;
  std::set<int> known_threads_;
  std::map<std::tuple<std::string, int, long>, std::uint64_t> series_;
  gpu_counters gpus_;
  gpu_activity gpu_activity_;
  std::uint64_t lost_on_gpus_ = 0;
  std::thread thread_;
};

session::session(const session_options& options) : work_(std::make_unique<implementation>(options)) {}
session::~session() { work_->close(); }
void session::close() noexcept { work_->close(); }
void session::set_clock_offset(double seconds, double error) { work_->set_clock_offset(seconds, error); }
const std::filesystem::path& session::path() const noexcept { return work_->path(); }
std::string session::problem() const { return work_->problem(); }

}  // namespace plaq::trace
