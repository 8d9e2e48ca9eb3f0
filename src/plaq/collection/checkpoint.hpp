// Files of a checkpoint: whole, or not there, and known when they are damaged.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plaq::elements {

/// A file that appears when it is complete. Throws runtime_failure that names it.
class whole_file {
 public:
  explicit whole_file(std::filesystem::path name);
  ~whole_file();
  whole_file(const whole_file&) = delete;

  /// A record: its length, then its bytes.
  void write(std::span<const std::byte> bytes);
  /// With a checksum of all at the end; on disk when this returns.
  void finish();
  /// Content as written, and the checksum of all but that itself.
  std::uint64_t bytes() const { return bytes_; }
  std::uint32_t crc() const { return sum_; }

 private:
  void raw(const void* data, std::size_t n);
  [[noreturn]] void failed(const char* what) const;

  const std::filesystem::path name_, beside_;
  std::FILE* file_;
  std::uint64_t bytes_ = 0;
  std::uint32_t sum_ = 0;
};

/// The name of a collection as a part of a file's name: what may not stand in one is written as %2f and the like, a
/// long name ends with its checksum. Different names stay different.
std::string file_name_of(const std::string& collection);

/// The records of such a file, and what tells it from others.
struct whole_records {
  std::vector<std::vector<std::byte>> records = {};
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};
/// Throws input_error where there is none, or where it is damaged.
whole_records read_whole_file(const std::filesystem::path& name);

}  // namespace plaq::elements
