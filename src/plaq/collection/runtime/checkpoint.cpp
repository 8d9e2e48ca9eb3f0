// Checkpoints of a collection. Every rank writes a part, its elements with the messages that wait in them, and sends
// its length and checksum to rank 0. When all have, rank 0 replaces the index, which lists the parts with their lengths
// and checksums. At that moment the new checkpoint replaces the old one, whose parts are removed afterwards. The reader
// may have another number of ranks: parts are distributed over ranks, and elements sent home.
#include <algorithm>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/collection/runtime/host.hpp"
#include "plaq/collection/runtime/whole_file.hpp"

namespace plaq::elements {

namespace fs = std::filesystem;

namespace {

/// Heading of a part, and of the index.
struct heading {
  std::string name = {};
  std::uint64_t generation = 0;  ///< one more than that of the checkpoint that it replaces, whose parts are kept
  step_number steps = 0;
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

/// Returns record `at` of a file. Throws input_error that names the file.
template <class What>
What record_of(const fs::path& file, const whole_records& of, std::size_t at) {
  try {
    check(of.records.size() > at, "it has no header");
    return unpack<What>(of.records[at]);
  } catch (const runtime_failure& e) {
    throw input_error(file.string() + ": is not a part of a checkpoint: " + e.what());
  }
}

/// Returns the heading of the checkpoint in the folder, or an empty one if there is none that can be read: its parts
/// stay.
heading heading_in(const fs::path& folder, const std::string& name) {
  try {
    const auto index = index_of(folder, name);
    return record_of<heading>(index, read_whole_file(index), 0);
  } catch (const std::exception&) {
    return {};
  }
}

template <class V>
void write(whole_file& to, const V& record) {
  std::vector<std::byte> bytes;
  archive::pack(record, bytes);
  to.write(bytes);
}

}  // namespace

void host::save(const fs::path& folder) {
  wait();
  const heading old = heading_in(folder, type_.name);
  heading own{type_.name, old.generation + 1, steps(), rank(), size(), directory_.size()};
  try {
    std::error_code ignored;  // another rank may make it too; an error shows when a file is opened
    fs::create_directories(folder, ignored);
    whole_file part(part_of(folder, own, rank()));
    write(part, own);
    std::vector<std::byte> bytes;
    for_each([&](element& e) {
      bytes.clear();
      pack_element(e, bytes);
      part.write(bytes);
    });
    part.finish();
    post(part_checksum{part.bytes(), rank(), part.crc()}, 0, tag::part);
  } catch (const std::bad_alloc&) {
    failure_.raise_here("out of memory while writing a checkpoint");
  } catch (const std::exception& e) {
    failure_.raise_here(e.what());
  }
  wait();  // for all parts
  if (rank() == 0) try {
      whole_file index(index_of(folder, type_.name));
      own.elements = total_;
      std::vector<part_checksum> parts;
      {
        std::lock_guard lock(parts_guard_);
        parts.swap(parts_);
      }
      std::ranges::sort(parts, {}, &part_checksum::rank);
      write(index, own);
      write(index, parts);
      index.finish();
    } catch (const std::exception& e) {
      failure_.raise_here(e.what());
    }
  wait();  // for the index: the old parts are not needed any more
  for (int r = rank(); r < old.ranks; r += size()) {
    std::error_code ignored;
    fs::remove(part_of(folder, old, r), ignored);
  }
}

void host::restore(const fs::path& folder) {
  const auto name = index_of(folder, type_.name);
  const auto index = read_whole_file(name);
  const auto all = record_of<heading>(name, index, 0);
  const auto parts = record_of<std::vector<part_checksum>>(name, index, 1);
  if (all.ranks < 1 || parts.size() != std::size_t(all.ranks))
    throw input_error(name.string() + ": is damaged: parts are missing");
  if (type_.fixed && all.elements != total_)
    throw input_error(name.string() + ": has " + std::to_string(all.elements) + " elements, but the collection has " +
                      std::to_string(total_));
  window_.begin_after(all.steps - 1);
  scheduler_.restart_at(all.steps);  // first: elements may arrive already, from ranks that read faster
  for (int r = rank(); r < all.ranks; r += size()) {
    const auto file = part_of(folder, all, r);
    auto [records, bytes, crc] = read_whole_file(file);
    const part_checksum& expected = parts[std::size_t(r)];
    if (expected.rank != r || expected.bytes != bytes || expected.crc != crc)
      throw input_error(file.string() + ": is a part of another checkpoint than " + name.string());
    for (std::size_t i = 1; i < records.size(); ++i) {
      try {
        comm::unpacker from(records[i]);
        auto e = unpack_element(from, type_);
        from.need_end();
        e->moves = 0;
        post_element(*e, directory_.home(e->id));
      } catch (const runtime_failure& why) {
        throw input_error(file.string() + ": element " + std::to_string(i) + ": " + why.what());
      }
      records[i] = {};
    }
  }
  wait();
}

}  // namespace plaq::elements
