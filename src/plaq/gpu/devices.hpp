// GPUs of this machine, and their memory.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace plaq::gpu {

/// Teams with fast memory that share a multiprocessor: one computes while another waits for memory.
inline constexpr int teams_at_once = 2;

struct device_properties {
  std::string name;
  int multiprocessors;
  std::size_t memory;       ///< bytes
  std::size_t team_memory;  ///< bytes of fast memory for each of teams_at_once
};

/// GPUs that this process can compute on.
struct device_list {
  std::vector<device_properties> gpus;
  std::string why_none;  ///< in words, where there are none
};

/// Returns the GPUs of this machine; none without a GPU or a driver for it. Never fails.
device_list find_devices();

/// Device with memory that runs kernels: a GPU by its number, or the host in its place.
struct device {
  static constexpr int host = -1;
  int gpu = host;
};

/// Returns the bytes that are free on the device now.
std::size_t memory_left(device where);

/// Block of bytes on a device, aligned for any type. Failures are runtime_failures.
class memory {
 public:
  memory() = default;
  memory(device where, std::size_t bytes);
  ~memory();
  memory(memory&& other) noexcept;
  memory& operator=(memory&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  void put(std::size_t offset, const void* from, std::size_t bytes);
  void get(std::size_t offset, void* to, std::size_t bytes) const;
  void clear();  ///< sets all bytes to zero

 private:
  device where_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace plaq::gpu
