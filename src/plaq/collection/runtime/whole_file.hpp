// Files of a checkpoint: written whole or not at all, with a checksum.
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

/// File that appears when it is complete. Throws runtime_failure that names it.
class whole_file {
 public:
  explicit whole_file(std::filesystem::path name);
  ~whole_file();
  whole_file(const whole_file&) = delete;

  /// Writes a record: its length, then its bytes.
  void write(std::span<const std::byte> bytes);
  /// Appends the checksum, and returns when the file and its name are on disk.
  void finish();
  /// Bytes written so far.
  std::uint64_t bytes() const { return bytes_; }
  /// CRC-32 of all bytes but the last four, which store it.
  std::uint32_t crc() const { return sum_; }

 private:
  void raw(const void* data, std::size_t n);
  void sync_folder() const;
  [[noreturn]] void failed(const char* what) const;

  const std::filesystem::path name_, temporary_;
  std::FILE* file_;
  std::uint64_t bytes_ = 0;
  std::uint32_t sum_ = 0;
};

/// Name of a collection as a part of a file name: other characters become %2f and the like, a long name ends with its
/// checksum. Different names stay different.
std::string file_name_of(const std::string& collection);

/// Records of such a file, its length and checksum.
struct whole_records {
  std::vector<std::vector<std::byte>> records = {};
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};
/// Returns the records of a file. Throws input_error if there is none, or if it is damaged.
whole_records read_whole_file(const std::filesystem::path& name);

}  // namespace plaq::elements
