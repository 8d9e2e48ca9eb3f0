#include "plaq/comm/mpi/node_board.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <new>
#include <string>

#include "plaq/task/cores.hpp"

namespace plaq::comm {

namespace doorbell = task::detail::doorbell;

namespace {

/// Memory of a node with so many ranks. New memory is zero, which is the state at first.
class board {
 public:
  board(void* at, int ranks) : at_(static_cast<std::byte*>(at)), ranks_(std::size_t(ranks)) {}
  static std::size_t bytes(int ranks) {
    return sizeof(doorbell::place) + std::size_t(ranks) * (sizeof(doorbell::place) + sizeof(cpu_set));
  }

  std::span<doorbell::place> places() const { return {first_place() + 1, ranks_}; }
  std::span<cpu_set> cpus() const {
    return {reinterpret_cast<cpu_set*>(at_ + sizeof(doorbell::place) * (ranks_ + 1)), ranks_};
  }
  /// Number of ranks that have attached.
  std::atomic<std::uint32_t>& attached() const { return first_place()->shares; }

 private:
  doorbell::place* first_place() const { return reinterpret_cast<doorbell::place*>(at_); }
  std::byte* at_;
  std::size_t ranks_;
};

/// Returns memory that all processes which give the same path share; null if there is none.
void* map_shared(const std::string& path, std::size_t bytes) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return nullptr;
  void* at = MAP_FAILED;
  if (::ftruncate(file, off_t(bytes)) == 0 && ::posix_fallocate(file, 0, off_t(bytes)) == 0)
    at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return at == MAP_FAILED ? nullptr : at;
}

cpu_set own_cpus() {
  cpu_set own;
  for (const int c : task::detail::allowed_cpus()) own.set(std::size_t(c) % own.size());
  return own;
}

}  // namespace

std::span<doorbell::place> attach_to_node(std::uint32_t number, int rank, int ranks) {
  const cpu_set own = own_cpus();
  const double limit = task::detail::cgroup_limit("/");
  doorbell::expect_sharing(find_sharing(std::vector(std::size_t(ranks), own), limit)[0]);
#if defined(__linux__)
  char name[64];
  std::snprintf(name, sizeof name, "/dev/shm/plaq-%u-%08x", unsigned(::getuid()), unsigned(number));
  void* const at = map_shared(name, board::bytes(ranks));
  if (!at) return {};
  const board all(at, ranks);
  all.cpus()[std::size_t(rank)] = own;
  if (all.attached().fetch_add(1) + 1 == std::uint32_t(ranks)) {
    ::unlink(name);  // all ranks have the memory
    const auto shares = find_sharing(all.cpus(), limit);
    for (std::size_t r = 0; r < shares.size(); ++r) all.places()[r].shares.store(shares[r] ? 2 : 1);
  }
  doorbell::use(&all.places()[std::size_t(rank)]);
  return all.places();
#else
  return {};
#endif
}

std::vector<bool> find_sharing(std::span<const cpu_set> of_processes, double limit) {
  std::vector<bool> shares(of_processes.size(), limit > 0 && double(of_processes.size()) > std::ceil(limit));
  for (std::size_t i = 0; i < shares.size(); ++i) {
    std::size_t users = 0;
    cpu_set all;
    for (const cpu_set& other : of_processes)
      if ((other & of_processes[i]).any()) {
        ++users;
        all |= other;
      }
    if (users > all.count()) shares[i] = true;
  }
  return shares;
}

}  // namespace plaq::comm
