#include "plaq/trace/buffer.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

namespace plaq::trace::detail {

std::atomic<unsigned> session_number{0};

ring::ring(std::size_t records, int number) : size_(records), number_(number), kernel_id_(::syscall(SYS_gettid)) {
  // Pages are given when they are written, so a ring of a quiet thread costs little.
  void* memory = ::mmap(nullptr, size_ * sizeof(record), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  records_ = static_cast<record*>(memory);
  char name[16] = "";
  if (::pthread_getname_np(::pthread_self(), name, sizeof name) == 0) thread_name_ = name;
}

ring::~ring() { ::munmap(records_, size_ * sizeof(record)); }

std::array<ring::piece, 2> ring::pieces(std::uint64_t from, std::uint64_t to) const noexcept {
  const std::uint64_t at = from & (size_ - 1), count = to - from, first = std::min(count, size_ - at);
  return {{{records_ + at, first}, {records_, count - first}}};
}

void ring::call_session() noexcept { wake_session(); }

namespace {

// Names get their numbers in the order in which they are met.
std::mutex names_lock;
struct name_table {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::string> texts;
};
name_table& all_names() {
  static auto& table = *new name_table;  // outlives every thread
  return table;
}

std::mutex rings_lock;
std::vector<std::unique_ptr<ring>>& all_rings() {
  static auto& list = *new std::vector<std::unique_ptr<ring>>;
  return list;
}
std::size_t ring_size = 0;
int last_number = -1;
std::atomic<std::uint64_t> without_ring{0};

[[gnu::tls_model("initial-exec")]] constinit thread_local ring* mine = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local bool ending = false;

struct ending_thread {
  ~ending_thread() {
    ending = true;
    if (mine) mine->abandoned.store(true, std::memory_order_release);
    mine = nullptr;
  }
};

[[gnu::noinline]] ring* open_ring() noexcept {
  if (!ending) try {
      thread_local ending_thread at_end;
      static_cast<void>(at_end);
      std::lock_guard lock(rings_lock);
      all_rings().push_back(std::make_unique<ring>(ring_size, last_number + 1));
      ++last_number;
      return mine = all_rings().back().get();
    } catch (const std::bad_alloc&) {  // the program continues, and its trace counts the lost events
    }
  without_ring.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

std::uint32_t number_of_name(std::string_view name) {
  std::lock_guard lock(names_lock);
  name_table& all = all_names();
  const auto next = static_cast<std::uint32_t>(all.texts.size());
  const auto [found, fresh] = all.numbers.try_emplace(std::string(name), next);
  if (fresh) all.texts.emplace_back(name);
  return found->second;
}

// A name has one address as long as the process, so the address finds its number.
std::uint32_t ring::number_of(std::string_view name) {
  const auto address = reinterpret_cast<std::uintptr_t>(name.data());
  known_name& known = known_[(address >> 3 ^ address >> 9) % known_.size()];
  if (known.text != name.data() || known.length != name.size()) [[unlikely]]
    known = {name.data(), name.size(), number_of_name(name)};
  return known.number;
}

ring* own_ring() noexcept {
  // A caller has seen that a session records, by a relaxed load: the session's number comes with that.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (ring* r = mine) [[likely]]
    return r;
  return open_ring();
}

std::uint64_t lost_without_ring() noexcept { return without_ring.load(std::memory_order_relaxed); }

std::vector<ring*> rings() {
  std::lock_guard lock(rings_lock);
  std::vector<ring*> out;
  for (auto& r : all_rings()) out.push_back(r.get());
  return out;
}

void set_ring_size(std::size_t records) {
  std::lock_guard lock(rings_lock);
  ring_size = records;
}

void free_ring(ring* old) {
  std::lock_guard lock(rings_lock);
  std::erase_if(all_rings(), [&](const auto& r) { return r.get() == old; });
}

std::vector<std::string> names_from(std::size_t from) {
  std::lock_guard lock(names_lock);
  const auto& texts = all_names().texts;
  return {texts.begin() + static_cast<std::ptrdiff_t>(std::min(from, texts.size())), texts.end()};
}

}  // namespace plaq::trace::detail
