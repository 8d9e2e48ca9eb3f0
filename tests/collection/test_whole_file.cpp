// Files of checkpoints and of loads: whole, or told to be damaged, or not there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "cells.hpp"
#include "plaq/base/error.hpp"
#include "plaq/collection/load_record.hpp"
#include "plaq/collection/runtime/whole_file.hpp"
#include "plaq/task/task.hpp"

namespace plaq::elements {
namespace {

namespace fs = std::filesystem;
using records = std::vector<std::vector<std::byte>>;

/// A folder for each test.
class whole_files : public testing::Test {
 protected:
  whole_files() : folder_(fs::temp_directory_path() / ("plaq_files_" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~whole_files() override { fs::remove_all(folder_); }

  fs::path in_folder(const std::string& name) const { return folder_ / name; }
  std::size_t files() const {
    return std::size_t(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  const fs::path folder_;
};

records some_records() {
  records out(4);
  for (std::size_t k = 0; k < 30; ++k) out[0].push_back(std::byte(k));
  out[2].assign(7, std::byte{255});  // the one before is empty
  out[3].assign(1, std::byte{0});
  return out;
}
void write(const fs::path& name, const records& all) {
  whole_file out(name);
  for (const auto& one : all) out.write(one);
  out.finish();
}
std::string content_of(const fs::path& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void put(const fs::path& name, const std::string& content) { std::ofstream(name, std::ios::binary) << content; }

TEST_F(whole_files, have_what_was_written) {
  for (const auto& all : {some_records(), records{}, records(3)}) {
    write(in_folder("a"), all);
    EXPECT_EQ(read_whole_file(in_folder("a")).records, all);
    EXPECT_EQ(files(), 1u);
  }
}

TEST_F(whole_files, appear_when_they_are_complete) {
  write(in_folder("a"), records{{std::byte{1}}});
  {
    whole_file other(in_folder("a"));
    other.write(std::vector<std::byte>(100));
    EXPECT_EQ(read_whole_file(in_folder("a")).records, (records{{std::byte{1}}}));
  }  // given up: the old one stays, and nothing else
  EXPECT_EQ(read_whole_file(in_folder("a")).records, (records{{std::byte{1}}}));
  EXPECT_EQ(files(), 1u);
}

TEST_F(whole_files, know_every_bit_that_changed_and_every_byte_that_lacks) {
  const auto name = in_folder("a");
  write(name, some_records());
  const std::string whole = content_of(name);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {1, 16, 128}) {
      std::string other = whole;
      other[at] = char(other[at] ^ bit);
      put(name, other);
      EXPECT_THROW(read_whole_file(name), input_error) << at << ", " << bit;
    }
    put(name, whole.substr(0, at));
    EXPECT_THROW(read_whole_file(name), input_error) << at;
  }
  put(name, whole + '\0');
  EXPECT_THROW(read_whole_file(name), input_error);
  put(name, whole);
  EXPECT_EQ(read_whole_file(name).records, some_records());
}

TEST_F(whole_files, that_are_not_there_or_cannot_be_are_named) {
  const auto said = [](auto what) {
    try {
      what();
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THROW(read_whole_file(in_folder("none")), input_error);
  EXPECT_NE(said([&] { read_whole_file(in_folder("none")); }).find("none: cannot be read: No such file"),
            std::string::npos);
  EXPECT_NE(said([&] { read_whole_file(in_folder("")); }).find("is damaged"), std::string::npos);  // a folder
  EXPECT_NE(said([&] { whole_file(in_folder("no/folder")); }).find("no/folder: cannot be written: No such file"),
            std::string::npos);
  fs::create_directory(in_folder("taken"));
  put(in_folder("taken") / "inside", "x");
  EXPECT_NE(said([&] { write(in_folder("taken"), {}); }).find("taken: cannot be written"), std::string::npos);
}

TEST_F(whole_files, of_loads_have_numbers_that_read_back) {
  const auto name = in_folder("loads");
  balance::load_distribution s{.ranks = 2, .loads = {0.1, 1e-300, 12345678.9, 0}, .rank_of = {0, 1, 1, 0}};
  s.sizes = {1, 2, 3, 4};
  s.most_bytes = 1e6;
  s.ranks_per_node = 2;
  {
    load_record out(name, "tab\there \\ \"", "s");
    out.write({0, std::numeric_limits<key>::max(), 7, 8}, s, "refine", {0, 0, 1, 1});
    EXPECT_EQ(content_of(name),  // flushed line by line
              "{\"plaq loads\":1,\"name\":\"tab here \\\\ \\\"\",\"unit\":\"s\"}\n"
              "{\"ranks\":2,\"ranks_per_node\":2,\"most_bytes\":1e+06,\"by\":\"refine\",\"keys\":[0,"
              "18446744073709551615,7,8],"
              "\"loads\":[0.1,1e-300,12345678.9,0],\"where\":[0,1,1,0],\"to\":[0,0,1,1],\"bytes\":[1,2,3,4],"
              "\"positions\":[],\"points\":[],\"edges\":[]}\n");
  }
  load_record again(name, "a", "work");  // in the place of what was there
  EXPECT_EQ(content_of(name), "{\"plaq loads\":1,\"name\":\"a\",\"unit\":\"work\"}\n");
}

// Parts of a checkpoint that do not belong together.
TEST_F(whole_files, of_a_checkpoint_belong_together) {
  const auto folder = in_folder("saved"), other = in_folder("other");
  const auto says = [](const std::vector<std::string>& said, const std::string& words) {
    for (const auto& s : said)
      if (s.find(words) != std::string::npos) return true;
    return false;
  };
  task::with_backend("fiber", {.workers = 2}, [&](auto& pool) {
    const auto save = [&](const fs::path& where, int steps, int ranks, double first = 0) {
      const auto said = test::on_ranks(ranks, 1, [&](const comm::communicator& world) {
        collection<double, int> row("row", world, pool, row_homes(box(6)), [first](int i) { return first + i; });
        for (int n = 0; n < steps; ++n) row.each("add", [](double& u) { u += 1; });
        row.save(where);
      });
      EXPECT_EQ(said, test::no_errors(ranks));
    };
    const auto restore = [&](int elements, const std::string& name = "row") {
      return test::on_ranks(2, 2, [&](const comm::communicator& world) {
        collection<double, int> row(name, world, pool, row_homes(box(elements)), checkpoint{folder});
        EXPECT_EQ(row.steps(), 3);
        row.each_local([](int at, double u) { EXPECT_EQ(u, at + 3); });
      });
    };
    save(folder, 3, 2);
    EXPECT_EQ(restore(6), test::no_errors(2));
    EXPECT_TRUE(says(restore(5), "has 6 elements, but the collection has 5"));
    EXPECT_TRUE(says(restore(6, "column"), "column.checkpoint: cannot be read"));
    save(other, 3, 2, 0.5);  // of another run, with as many steps, ranks and elements
    const std::string part = "row.1.1.part", whole = content_of(folder / part);
    put(folder / part, content_of(other / part));
    EXPECT_TRUE(says(restore(6), part + ": is a part of another checkpoint than "));
    fs::remove(folder / part);
    EXPECT_TRUE(says(restore(6), part + ": cannot be read"));
    write(folder / part, {});
    EXPECT_TRUE(says(restore(6), part + ": is a part of another checkpoint than "));
    put(folder / part, whole);
    EXPECT_EQ(restore(6), test::no_errors(2));
    auto index = read_whole_file(folder / "row.checkpoint").records;
    const auto entries = unpack<std::vector<part_checksum>>(index[1]);
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries[1].bytes, fs::file_size(folder / part));
    write(folder / "row.checkpoint", {index[0], {}});
    EXPECT_TRUE(says(restore(6), "row.checkpoint: is not a part of a checkpoint: "));
    auto cut = read_whole_file(folder / "row.1.0.part").records;
    cut.back().resize(cut.back().size() / 2);  // a file that is whole and in the index, of an element that is not
    write(folder / "row.1.0.part", cut);
    const auto now = read_whole_file(folder / "row.1.0.part");
    index[1].clear();
    archive::pack(std::vector<part_checksum>{{now.bytes, 0, now.crc}, entries[1]}, index[1]);
    write(folder / "row.checkpoint", index);
    EXPECT_TRUE(says(restore(6), "row.1.0.part: element 3: "));
  });
}

// The name of a collection is not that of a file.
TEST_F(whole_files, any_name_can_be_saved_within_the_folder) {
  const std::string latin(300, 'x'), greek = "\u03b4" + std::string(158, 'y') + "\u03b4\u03b5";
  const std::vector<std::string> names{
      "left/right",  "../up",        "/tmp/x", ".hidden",   "",
      "%2f",         "a b",          " a",     "a\\b",      std::string("nul\0inside", 10),
      "line\nbreak", "\u03b4\u03b5", latin,    latin + "x", greek,
      "plain.name-1"};
  const auto folder = in_folder("all");
  std::set<std::string> files;
  for (const auto& name : names) {
    const auto file = file_name_of(name);
    EXPECT_TRUE(files.insert(file).second) << file;
    EXPECT_TRUE(!file.empty() && file.size() <= 170 && file[0] != '.' && file.find('/') == file.npos) << file;
  }
  EXPECT_EQ(file_name_of("left/right"), "left%2fright");
  EXPECT_EQ(file_name_of("../up"), "%2e.%2fup");
  EXPECT_EQ(file_name_of("plain.name-1"), "plain.name-1");
  EXPECT_EQ(file_name_of("a b"), "a b");
  task::with_backend("fiber", {.workers = 1}, [&](auto& pool) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      EXPECT_EQ(test::on_ranks(1, 1,
                               [&](const comm::communicator& world) {
                                 collection<double, int> row(names[k], world, pool, row_homes(box(2)),
                                                             [&](int at) { return at + double(k); });
                                 row.save(folder);
                               }),
                test::no_errors(1));
      EXPECT_EQ(test::on_ranks(1, 1,
                               [&](const comm::communicator& world) {
                                 collection<double, int> row(names[k], world, pool, row_homes(box(2)),
                                                             checkpoint{folder});
                                 row.each_local([&](int at, double u) { EXPECT_EQ(u, at + double(k)); });
                               }),
                test::no_errors(1));
    }
  });
  EXPECT_EQ(files.size(), names.size());
  EXPECT_EQ(std::size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator())), 2 * names.size());
  EXPECT_EQ(this->files(), 1u);  // nothing beside it
}

}  // namespace
}  // namespace plaq::elements
