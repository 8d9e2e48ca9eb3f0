#include "plaq/trace/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "plaq/base/crc32.hpp"
#include "plaq/base/error.hpp"

namespace plaq::trace::detail {

namespace {

constexpr std::size_t head_size = 512;

struct block_head {
  std::uint32_t check, kind;  ///< check: crc32 of the rest of this struct
  std::uint64_t bytes, thread, lost;
  std::uint32_t number, body;  ///< body: crc32 of the bytes and their padding
};

/// Returns the first bytes of the file.
std::string head_of(const std::string& state, std::uint64_t size) {
  std::string head = "plaq trace 2\n" + state.substr(0, head_size / 2) + "\n" + std::to_string(size) + "\n";
  char check[16];
  std::snprintf(check, sizeof check, "%08x\n", static_cast<unsigned>(crc32(head.data(), head.size())));
  head += check;
  head.resize(head_size, '\0');
  return head;
}

/// Writes all pieces; returns 0 or the error.
int write_all(int descriptor, std::vector<iovec>& pieces) noexcept {
  std::size_t next = 0;
  while (next < pieces.size()) {
    const ssize_t written = ::writev(descriptor, &pieces[next], static_cast<int>(pieces.size() - next));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    auto left = static_cast<std::size_t>(written);
    while (next < pieces.size() && left >= pieces[next].iov_len) left -= pieces[next++].iov_len;
    if (next < pieces.size()) {
      pieces[next].iov_base = static_cast<char*>(pieces[next].iov_base) + left;
      pieces[next].iov_len -= left;
    }
  }
  return 0;
}

std::string reason(int code) { return std::system_category().message(code); }

}  // namespace

file::file(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0 && errno == EEXIST)
    throw input_error(path.string() + ": exists already; a trace needs a folder of its own");
  if (descriptor_ < 0) throw runtime_failure(path.string() + ": cannot be written: " + reason(errno));
  std::string head = head_of("open", 0);
  std::vector<iovec> pieces{{head.data(), head.size()}};
  if (const int code = write_all(descriptor_, pieces)) {
    ::close(descriptor_);
    throw runtime_failure(path.string() + ": cannot be written: " + reason(code));
  }
  size_ = head_size;
}

file::~file() { ::close(descriptor_); }

bool file::add(block kind, std::vector<iovec> pieces, std::uint64_t thread, std::uint64_t lost) noexcept {
  if (!problem_.empty()) return false;
  struct stat now;
  if (::fstat(descriptor_, &now) == 0 && now.st_nlink == 0) {
    problem_ = "its file was removed";
    return false;
  }
  std::uint64_t bytes = 0;
  for (const iovec& p : pieces) bytes += p.iov_len;
  char zeros[8] = {};
  pieces.push_back({zeros, (8 - bytes % 8) % 8});
  block_head head{0, static_cast<std::uint32_t>(kind), bytes, thread, lost, blocks_, 0};
  for (const iovec& p : pieces) head.body = crc32(p.iov_base, p.iov_len, head.body);
  head.check = crc32(&head.kind, sizeof head - sizeof head.check);
  pieces.insert(pieces.begin(), {&head, sizeof head});
  if (const int code = write_all(descriptor_, pieces)) {
    problem_ = reason(code);
    // Readers would skip the rest of the block anyway.
    if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) problem_ += ", and its last block is not whole";
    set_state("cut: " + problem_);
    return false;
  }
  size_ += sizeof head + bytes + (8 - bytes % 8) % 8;
  ++blocks_;
  return true;
}

bool file::add(block kind, std::string_view text, std::uint64_t thread) noexcept {
  return add(kind, {{const_cast<char*>(text.data()), text.size()}}, thread);
}

void file::set_state(const std::string& state) noexcept {
  const std::string head = head_of(state, size_);
  // A failure cannot be reported: then the file looks like one of a process that was killed.
  static_cast<void>(!::pwrite(descriptor_, head.data(), head.size(), 0));
}

}  // namespace plaq::trace::detail
