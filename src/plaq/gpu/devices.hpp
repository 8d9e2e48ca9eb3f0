// The GPUs of this machine, and memory there.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace plaq::gpu {

struct device_properties {
  std::string name;
  int multiprocessors;
  std::size_t memory;       ///< bytes
  std::size_t team_memory;  ///< bytes that one team may have to itself
};

/// What this process can compute on.
struct found_devices {
  std::vector<device_properties> gpus;
  std::string why_none;  ///< in words, where there are none
};

/// Never fails: a machine without a GPU or a driver for it has none.
found_devices find_devices();

/// Where memory is and kernels run: a GPU by its number, or the host in its place.
struct place {
  static constexpr int host = -1;
  int gpu = host;
};

/// Bytes that are free there now.
std::size_t memory_left(place where);

/// Bytes at a place, aligned for any type. Failures are runtime_failures.
class memory {
 public:
  memory() = default;
  memory(place where, std::size_t bytes);
  ~memory();
  memory(memory&& other) noexcept;
  memory& operator=(memory&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  void put(std::size_t offset, const void* from, std::size_t bytes);
  void get(std::size_t offset, void* to, std::size_t bytes) const;
  void clear();  ///< to zeros

 private:
  place where_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace plaq::gpu
