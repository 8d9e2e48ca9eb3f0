#include "plaq/collection/runtime/whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "plaq/base/crc32.hpp"
#include "plaq/base/error.hpp"

namespace plaq::elements {

namespace fs = std::filesystem;

namespace {

constexpr std::array<char, 8> magic{'p', 'l', 'a', 'q', 'c', 'o', 'l', '1'};

}  // namespace

std::string file_name_of(const std::string& collection) {
  constexpr std::size_t longest = 160;  // of 255, the rest is for the suffix
  const auto hex = [](std::uint32_t number, int digits) {
    char text[9];
    std::snprintf(text, sizeof text, "%0*x", digits, number);
    return std::string(text);
  };
  std::string out;
  for (const char c : collection) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > 0x20 && byte != 0x7f && c != '/' && c != '\\' && c != '%' && !(c == '.' && out.empty());
    if (plain || (c == ' ' && !out.empty()))
      out += c;
    else
      out.append("%").append(hex(byte, 2));
  }
  if (out.empty()) return "%";
  if (out.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;  // within a character of UTF-8
    out.resize(end);
    out.append("%").append(hex(crc32(collection.data(), collection.size()), 8));
  }
  return out;
}

whole_file::whole_file(fs::path name)
    : name_(std::move(name)), temporary_(name_.string() + ".next"), file_(std::fopen(temporary_.c_str(), "wb")) {
  if (!file_) failed("cannot be written");
  raw(magic.data(), magic.size());
}

whole_file::~whole_file() {
  if (!file_) return;
  std::fclose(file_);
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void whole_file::failed(const char* what) const {
  const std::string why = std::strerror(errno);
  throw runtime_failure(name_.string() + ": " + what + ": " + why);
}

void whole_file::raw(const void* data, std::size_t n) {
  if (n > 0 && std::fwrite(data, 1, n, file_) != n) failed("cannot be written");
  sum_ = crc32(data, n, sum_);
  bytes_ += n;
}

void whole_file::write(std::span<const std::byte> bytes) {
  const std::uint64_t n = bytes.size();
  raw(&n, sizeof n);
  raw(bytes.data(), bytes.size());
}

void whole_file::finish() {
  const std::uint32_t sum = sum_;
  raw(&sum, sizeof sum);
  sum_ = sum;
  if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) failed("cannot be written");
  const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
  std::error_code error;
  if (closed) fs::rename(temporary_, name_, error);
  if (!closed || error) {
    if (error) errno = error.value();
    failed("cannot be written");
  }
  sync_folder();
}

/// Returns when the name of the file is on disk, too.
void whole_file::sync_folder() const {
  const fs::path folder = name_.has_parent_path() ? name_.parent_path() : fs::path(".");
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  const bool synced =
      opened >= 0 && (fsync(opened) == 0 || errno == EINVAL);  // EINVAL: the file system has no such call
  const int why = errno;
  if (opened >= 0) ::close(opened);
  errno = why;
  if (!synced) failed("its folder cannot be written");
}

whole_records read_whole_file(const fs::path& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), std::fclose);
  if (!file) throw input_error(name.string() + ": cannot be read: " + std::strerror(errno));
  const auto damaged = [&](const char* why) { return input_error(name.string() + ": is damaged: " + why); };
  std::error_code error;
  whole_records out{.bytes = fs::file_size(name, error)};
  std::uint64_t left = out.bytes;
  std::uint32_t sum = 0;
  const auto read = [&](void* to, std::uint64_t n) {
    if (n > left) throw damaged("it ends early");
    if (n > 0 && std::fread(to, 1, n, file.get()) != n) throw damaged("it ends early");
    left -= n;
  };
  std::array<char, 8> begin;
  read(begin.data(), begin.size());
  if (begin != magic) throw damaged("it does not begin with the header of plaq's files");
  sum = crc32(begin.data(), begin.size());
  while (left > sizeof sum) {
    std::uint64_t n;
    read(&n, sizeof n);
    sum = crc32(&n, sizeof n, sum);
    if (n > left) throw damaged("it ends early");
    out.records.emplace_back(n);
    read(out.records.back().data(), n);
    sum = crc32(out.records.back().data(), n, sum);
  }
  read(&out.crc, sizeof out.crc);
  if (out.crc != sum) throw damaged("its checksum differs");
  return out;
}

}  // namespace plaq::elements
