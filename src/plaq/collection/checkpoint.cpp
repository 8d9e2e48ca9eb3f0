// Checkpoints of a collection. Every rank writes a part, its elements with the messages that wait in them, and tells
// rank 0 its length and checksum. When all have, rank 0 replaces the index, which says which parts count and what they
// are known by: that is the moment when the new checkpoint takes the place of the old one, whose parts go after it.
// The reader may have another number of ranks: parts are dealt out, and elements sent home.
#include "plaq/collection/checkpoint.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "plaq/base/crc32.hpp"
#include "plaq/base/error.hpp"
#include "plaq/collection/guarded.hpp"
#include "plaq/collection/host.hpp"
#include "plaq/collection/tags.hpp"

namespace plaq::elements {

namespace fs = std::filesystem;

namespace {

constexpr std::array<char, 8> magic{'p', 'l', 'a', 'q', 'c', 'o', 'l', '1'};

/// What is in a part, or which parts there are.
struct heading {
  std::string name = {};
  std::uint64_t generation = 0;  ///< one more than that of the checkpoint before, whose parts are not touched
  number steps = 0;
  int rank = -1, ranks = 0;
  std::uint64_t elements = 0;
  void serialize(archive& ar) { ar(name, generation, steps, rank, ranks, elements); }
};

fs::path part_of(const fs::path& folder, const heading& h, int rank) {
  return folder / (file_name_of(h.name) + "." + std::to_string(h.generation) + "." + std::to_string(rank) + ".part");
}
fs::path index_of(const fs::path& folder, const std::string& name) {
  return folder / (file_name_of(name) + ".checkpoint");
}

template <class What>
What record_of(const fs::path& file, const whole_records& of, std::size_t at) {
  try {
    check(of.records.size() > at, "it has no heading");
    return unpack<What>(of.records[at]);
  } catch (const runtime_failure& e) {
    throw input_error(file.string() + ": is no part of a checkpoint: " + e.what());
  }
}

}  // namespace

std::string file_name_of(const std::string& collection) {
  constexpr std::size_t longest = 160;  // of 255, so that the rest of a file's name has room
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
    while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;  // within a letter of UTF-8
    out.resize(end);
    out.append("%").append(hex(crc32(collection.data(), collection.size()), 8));
  }
  return out;
}

whole_file::whole_file(fs::path name)
    : name_(std::move(name)), beside_(name_.string() + ".next"), file_(std::fopen(beside_.c_str(), "wb")) {
  if (!file_) failed("cannot be written");
  raw(magic.data(), magic.size());
}

whole_file::~whole_file() {
  if (!file_) return;
  std::fclose(file_);
  std::error_code ignored;
  fs::remove(beside_, ignored);
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
  if (closed) fs::rename(beside_, name_, error);
  if (!closed || error) {
    if (error) errno = error.value();
    failed("cannot be written");
  }
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
  if (begin != magic) throw damaged("it begins like none of plaq's");
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
  if (out.crc != sum) throw damaged("its checksum is another");
  return out;
}

void host::heard(const part_sum& of) {
  std::lock_guard lock(mutex_);
  parts_.push_back(of);
}

void host::save(const fs::path& folder) {
  wait();
  const auto old = [&] {
    try {
      const auto index = index_of(folder, kind_.name);
      return record_of<heading>(index, read_whole_file(index), 0);
    } catch (const std::exception&) {
      return heading{};  // none, or one that is of no use: its parts stay where they are
    }
  }();
  heading mine{kind_.name, old.generation + 1, issued_, rank(), size(), here_};
  std::vector<std::byte> bytes;
  try {
    std::error_code ignored;  // another rank may make it too; what is wrong shows when a file is opened
    fs::create_directories(folder, ignored);
    whole_file part(part_of(folder, mine, rank()));
    archive::pack(mine, bytes);
    part.write(bytes);
    each_here([&](element& e) {
      bytes.clear();
      pack(e, bytes);
      part.write(bytes);
    });
    part.finish();
    post(part_sum{part.bytes(), rank(), part.crc()}, 0, tag::part);
  } catch (const std::bad_alloc&) {
    fault("rank " + std::to_string(rank()) + ": " + kind_.name + ": no memory is left to write a checkpoint");
  } catch (const std::exception& e) {
    fault("rank " + std::to_string(rank()) + ": " + kind_.name + ": " + e.what());
  }
  wait();  // for all parts
  if (rank() == 0) try {
      whole_file index(index_of(folder, kind_.name));
      mine.elements = of_all_;
      std::vector<part_sum> parts;
      {
        std::lock_guard lock(mutex_);  // every rank has told what it wrote
        parts.swap(parts_);
      }
      std::ranges::sort(parts, {}, &part_sum::rank);
      bytes.clear();
      archive::pack(mine, bytes);
      index.write(bytes);
      bytes.clear();
      archive::pack(parts, bytes);
      index.write(bytes);
      index.finish();
    } catch (const std::exception& e) {
      fault("rank 0: " + kind_.name + ": " + e.what());
    }
  wait();  // for the index, after which the old parts are of no use
  for (int r = rank(); r < old.ranks; r += size()) {
    std::error_code ignored;
    fs::remove(part_of(folder, old, r), ignored);
  }
}

void host::restore(const fs::path& folder) {
  const auto name = index_of(folder, kind_.name);
  const auto index = read_whole_file(name);
  const auto all = record_of<heading>(name, index, 0);
  const auto parts = record_of<std::vector<part_sum>>(name, index, 1);
  if (all.ranks < 1 || parts.size() != std::size_t(all.ranks))
    throw input_error(name.string() + ": is damaged: it has not every part");
  if (kind_.fixed && all.elements != of_all_)
    throw input_error(name.string() + ": has " + std::to_string(all.elements) + " elements, and the collection " +
                      std::to_string(of_all_));
  {
    std::lock_guard lock(steps_guard_);  // elements may be coming already, from ranks that read faster
    front_.at = all.steps - 1;
    issued_ = all.steps;
  }
  for (int r = rank(); r < all.ranks; r += size()) {
    const auto file = part_of(folder, all, r);
    auto [records, bytes, crc] = read_whole_file(file);
    const part_sum& wanted = parts[std::size_t(r)];
    if (wanted.rank != r || wanted.bytes != bytes || wanted.crc != crc)
      throw input_error(file.string() + ": is a part of another checkpoint than " + name.string());
    for (std::size_t i = 1; i < records.size(); ++i) {
      try {
        comm::unpacker from(records[i]);
        auto e = unpack(from);
        from.need_end();
        e->moves = 0;
        post(letter{.write = [&](std::vector<std::byte>& bytes) { pack(*e, bytes); }}, kind_.home(e->at), tag::element);
      } catch (const runtime_failure& why) {
        throw input_error(file.string() + ": element " + std::to_string(i) + ": " + why.what());
      }
      records[i] = {};
    }
  }
  wait();
}

}  // namespace plaq::elements
