#include "plaq/trace/processor_counters.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "plaq/base/error.hpp"

namespace plaq::trace::detail {

namespace {

struct kind {
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr std::array<kind, 6> kinds{{
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"cache misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"processor time", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    {"page faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
}};

/// Opens a counter of the calling thread, in the group of `leader` (-1: as the leader of a new one); -1 on failure.
int open_counter(const kind& what, int leader) noexcept {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = what.type;
  attributes.config = what.config;
  attributes.read_format = PERF_FORMAT_GROUP;  // one call reads all at one moment
  attributes.disabled = leader < 0;            // until the group is whole: Linux counts only some of it otherwise
  attributes.pinned = leader < 0;              // all of the time or not at all: no value is an extrapolation
  attributes.exclude_kernel = attributes.exclude_hv = 1;  // all that an ordinary user may count
  return static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

/// The chosen counters in one word, which threads read without a lock: 8 bits for each (1 + its number, 0: none), and
/// above them the number of the choice.
std::atomic<std::uint64_t> chosen{0};
constexpr std::uint64_t kinds_bits = (std::uint64_t(1) << 8 * most_counters) - 1;

/// Open counters of one thread.
struct group {
  std::uint64_t choice = 0;
  std::array<int, most_counters> files{};
  std::size_t count = 0;
  int error = 0;

  void close() noexcept {
    while (count > 0) ::close(files[--count]);
  }
  void open(std::uint64_t next) noexcept {
    close();
    choice = next;
    error = 0;
    for (std::uint64_t rest = next & kinds_bits; rest && !error; rest >>= 8) {
      const int file = open_counter(kinds[(rest & 0xff) - 1], count ? files[0] : -1);
      if (file < 0)
        error = errno;
      else
        files[count++] = file;
    }
    if (count && !error && ::ioctl(files[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) != 0) error = errno;
    if (error) close();
  }
  /// Reads all; returns how many there are, 0 if the processor cannot count them now.
  std::size_t read(std::array<std::uint64_t, most_counters>& values) const noexcept {
    std::array<std::uint64_t, 1 + most_counters> found;  // their number, then the values
    const std::size_t bytes = (1 + count) * sizeof(std::uint64_t);
    if (count == 0 || ::read(files[0], found.data(), bytes) != static_cast<ssize_t>(bytes)) return 0;
    std::copy_n(found.begin() + 1, count, values.begin());
    return count;
  }
};

constinit thread_local group own;
constinit thread_local bool ended = false;

struct at_end_of_thread {
  ~at_end_of_thread() {
    own.close();
    ended = true;
  }
};

[[gnu::noinline]] void open_own(std::uint64_t choice) noexcept {
  thread_local at_end_of_thread closes;
  static_cast<void>(closes);
  own.open(choice);
}

std::string list_of_kinds() {
  std::string list;
  for (const kind& each : kinds) list.append(list.empty() ? "'" : ", '").append(each.name).append("'");
  return list;
}

/// Returns the word that stands for these names, without the number of the choice.
std::uint64_t word_of(const std::vector<std::string>& names) {
  if (names.size() > most_counters)
    throw input_error("trace: counters: " + std::to_string(names.size()) + " are chosen; allowed are at most " +
                      std::to_string(most_counters));
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string where = "trace: counters = '" + names[i] + "': ";
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const kind& k) { return k.name == names[i]; });
    if (found == kinds.end()) throw input_error(where + "allowed are " + list_of_kinds());
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw input_error(where + "is given twice");
    word |= static_cast<std::uint64_t>(found - kinds.begin() + 1) << 8 * i;
  }
  return word;
}

/// Throws input_error if the kernel does not count these here.
void demand(std::uint64_t word, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    group one;
    one.open(word >> 8 * i & 0xff);
    one.close();
    if (one.error)
      throw input_error("trace: counters = '" + names[i] +
                        "': the kernel counts none here, as in many containers and " +
                        "virtual machines (perf_event_open: " + std::system_category().message(one.error) + ")");
  }
  group all;
  all.open(word);
  all.close();
  if (all.error)
    throw input_error("trace: counters: the kernel does not count all of them together (perf_event_open: " +
                      std::system_category().message(all.error) + ")");
}

}  // namespace

void demand_processor_counters(const std::vector<std::string>& names) { demand(word_of(names), names); }

void choose_processor_counters(const std::vector<std::string>& names) {
  const std::uint64_t word = word_of(names);
  demand(word, names);
  // A new number, so that no thread goes on with the counters of an earlier session.
  const std::uint64_t number = (chosen.load(std::memory_order_relaxed) & ~kinds_bits) + kinds_bits + 1;
  chosen.store(number | word, std::memory_order_relaxed);
}

processor_counts read_processor_counters() noexcept {
  processor_counts out;
  const std::uint64_t choice = chosen.load(std::memory_order_relaxed);
  if ((choice & kinds_bits) == 0 || ended) [[likely]]
    return out;
  if (own.choice != choice) open_own(choice);
  out.count_ = own.read(out.values_);
  return out;
}

}  // namespace plaq::trace::detail
