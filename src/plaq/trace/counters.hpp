// Counters that a session samples: of the machine, of libraries that offer them, and of the user.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plaq/trace/label.hpp"

namespace plaq::trace {

/// Value of one quantity now. `worker` is as for a listener (hooks.hpp) and `thread` a kernel thread's id; both are -1
/// for all of the process.
struct sample {
  std::string name, unit;
  int worker = -1;
  long thread = -1;
  double value = 0;
};

/// Counters of a library: `read` appends its samples when a session or a policy samples, on their threads. It must
/// neither throw nor wait for a task. When the destructor returns, `read` is not called any more.
class counter_source {
 public:
  explicit counter_source(std::function<void(std::vector<sample>&)> read);
  ~counter_source();
  counter_source(const counter_source&) = delete;
  counter_source& operator=(const counter_source&) = delete;

 private:
  std::function<void(std::vector<sample>&)> read_;
  friend std::vector<sample> read_counters();
};

namespace detail {
/// Appends the operating system's counters of this process, its threads and the cores that it may use.
void read_system(std::vector<sample>& out);
}  // namespace detail

/// Quantity of the user: `trace::counter accepted("accepted moves", "1"); accepted.add(3);`. Its current value is
/// sampled; the values of counters with one name are added.
class counter {
 public:
  counter(label name, label unit);
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(double value) noexcept { value_.fetch_add(value, std::memory_order_relaxed); }
  double value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
  counter_source source_;
};

/// Returns all quantities of the process and of all sources as they are now; those with one name, worker and thread are
/// added.
std::vector<sample> read_counters();

/// Returns the sum of the values with this name over sources, workers and threads.
///
/// @pre the name is known, else input_error that lists the known names
double read_counter(std::string_view name);

}  // namespace plaq::trace
