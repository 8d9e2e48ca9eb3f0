// Sizes, packing and unpacking from one description.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <forward_list>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "plaq/collection/archive.hpp"

namespace plaq {
namespace {

struct particle {
  double x = 0, v = 0;
  bool operator==(const particle&) const = default;
};
struct patch {
  std::vector<particle> particles;
  std::vector<std::vector<double>> fields;
  std::string name;
  std::optional<std::string> note;
  std::array<std::string, 2> ends;
  std::tuple<int, std::vector<int>> pair;
  std::vector<bool> mask;
  std::pair<std::string, int> last;
  bool operator==(const patch&) const = default;
  void serialize(archive& ar) { ar(particles, fields, name, note, ends, pair, mask, last); }
};
patch example() {
  return {{{1, 2}, {3, 4}}, {{}, {5}, {6, 7}}, "north", "one", {"a", ""}, {3, {1, 2}}, {true, false, true}, {"end", 9}};
}
std::vector<std::byte> packed(const auto& value) {
  std::vector<std::byte> bytes;
  archive::pack(value, bytes);
  return bytes;
}

TEST(archive, brings_back_what_was_packed_and_knows_its_size_before) {
  const patch p = example();
  const auto bytes = packed(p);
  EXPECT_EQ(archive::size(p), bytes.size());
  EXPECT_EQ(elements::unpack<patch>(bytes), p);
  EXPECT_EQ(comm::unpack<patch>(bytes), p);  // as messengers do
  EXPECT_EQ(elements::unpack<patch>(packed(patch{})), patch{});
}

TEST(archive, overwrites_what_was_there) {
  const auto bytes = packed(patch{});
  comm::unpacker from(bytes);
  patch p = example();
  archive::unpack(p, from);
  EXPECT_EQ(p, patch{});
}

TEST(archive, refuses_bytes_of_another_type) {
  const auto bytes = packed(example());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_THROW(elements::unpack<patch>(std::span(bytes).first(n)), runtime_failure) << n;
  auto longer = bytes;
  longer.push_back({});
  EXPECT_THROW(elements::unpack<patch>(longer), runtime_failure);
  const std::vector<std::byte> long_length(8, std::byte{0x7f});  // asks for no memory
  EXPECT_THROW(elements::unpack<std::vector<double>>(long_length), runtime_failure);
  EXPECT_THROW(elements::unpack<std::vector<std::string>>(long_length), runtime_failure);
}

struct fickle {
  mutable int calls = 0;
  void serialize(archive& ar) {
    for (int i = 0; i < calls; ++i) ar(calls);
    ++calls;
  }
};
TEST(archive, refuses_a_value_whose_parts_change) { EXPECT_THROW(packed(fickle{}), runtime_failure); }

struct store {
  std::map<int, std::string> names;
  std::multimap<std::string, std::vector<int>> lists;
  std::set<std::string> words;
  std::multiset<int> numbers;
  std::unordered_map<int, double> table;
  std::unordered_set<std::string> seen;
  std::list<std::string> list;
  std::deque<std::vector<int>> queue;
  std::forward_list<int> chain;
  std::variant<int, std::string, std::vector<double>> one_of;
  std::optional<std::map<int, int>> maybe;
  bool operator==(const store&) const = default;
  void serialize(archive& ar) { ar(names, lists, words, numbers, table, seen, list, queue, chain, one_of, maybe); }
};
store full_store() {
  return {{{1, "one"}, {-2, "two"}},
          {{"a", {1, 2}}, {"a", {}}, {"b", {3}}},
          {"x", "y"},
          {3, 3, 1},
          {{7, 0.5}, {8, 1}},
          {"z"},
          {"p", "q"},
          {{}, {4}},
          {9, 8, 7},
          std::vector{1.5, 2.5},
          {{{5, 6}}}};
}
TEST(archive, knows_the_containers_of_the_standard_library) {
  const store s = full_store();
  const auto bytes = packed(s);
  EXPECT_EQ(archive::size(s), bytes.size());
  EXPECT_EQ(elements::unpack<store>(bytes), s);
  EXPECT_EQ(s, full_store()) << "packing changes nothing";
  comm::unpacker from(bytes);
  store other;
  other.names[5] = "gone";
  other.one_of = "gone";
  archive::unpack(other, from);
  EXPECT_EQ(other, s);
  for (std::size_t n = 0; n < bytes.size(); n += 3)
    EXPECT_THROW(elements::unpack<store>(std::span(bytes).first(n)), runtime_failure) << n;
  using choice = std::variant<int, std::string>;
  EXPECT_THROW(elements::unpack<choice>(packed(std::variant<int, std::string, std::vector<int>>(std::vector{1}))),
               runtime_failure);
}

struct tree {
  int value = 0;
  std::unique_ptr<tree> left, right;
  void serialize(archive& ar) { ar(value, left, right); }
};
TEST(archive, knows_what_a_pointer_owns) {
  tree t{1, std::make_unique<tree>(tree{2, nullptr, nullptr}), nullptr};
  const tree back = elements::unpack<tree>(packed(t));
  ASSERT_TRUE(back.left);
  EXPECT_EQ(back.left->value, 2);
  EXPECT_FALSE(back.right || back.left->left);
}

struct forgetful {
  std::vector<double> u;
  int n = 0;
  void serialize(archive& ar) { ar(u); }
};
struct forgetful_in_the_middle {
  double weights[3] = {};
  int kept = 0, lost = 0;
  std::optional<int> other;
  void serialize(archive& ar) { ar(weights, kept, other); }
};
struct forgetful_after_an_optional {
  std::optional<int> first;
  std::string lost;
  int last = 0;
  void serialize(archive& ar) { ar(first, last); }
};
struct deliberate {
  std::vector<double> u, scratch;
  void serialize(archive& ar) {
    ar(u);
    ar.leaves_out(scratch);
  }
};
struct by_parts {
  struct {
    double x, y;
  } at;
  bool wide = false;
  std::vector<int> more;
  void serialize(archive& ar) {
    ar(at.x, at.y, wide);
    if (wide)
      ar(more);
    else
      ar.leaves_out(more);
  }
};
template <class T>
std::string complaint() {
  try {
    archive::check_fields(T{});
  } catch (const runtime_failure& e) {
    return e.what();
  }
  return "";
}
TEST(archive, finds_a_forgotten_field) {
  EXPECT_NE(complaint<forgetful>().find("forgetful forgets 4 bytes at byte 24: "), std::string::npos);
  EXPECT_NE(complaint<forgetful>(), "") << "each time";
  EXPECT_NE(complaint<forgetful_in_the_middle>().find("forgets 4 bytes at byte 28"), std::string::npos);
  EXPECT_NE(complaint<forgetful_after_an_optional>().find("forgets 32 bytes at byte 8"), std::string::npos);
  for (const auto& none : {complaint<deliberate>(), complaint<by_parts>(), complaint<patch>(), complaint<store>()})
    EXPECT_EQ(none, "");
  EXPECT_THROW(archive::size(std::vector<forgetful>(1)), runtime_failure) << "also as a part";
}

struct with_pointer {
  int n;
  double* values;
};
struct deep {
  int n;
  with_pointer in;
};
struct with_pointers {
  int n;
  const char* names[2];
};
struct with_view {
  std::span<int> view;
};
struct plain_fields {
  double a[3];
  particle p;
  char c;
};
static_assert(!serializable<with_pointer> && !serializable<deep> && !serializable<with_pointers> &&
              !serializable<with_view> && !serializable<std::vector<deep>> && serializable<plain_fields>);

static_assert(serializable<patch> && serializable<double> && serializable<std::vector<patch>>);
static_assert(!serializable<int*> && !serializable<std::map<int, int*>> && !serializable<std::shared_ptr<int>> &&
              !serializable<std::vector<std::vector<int*>>>);

}  // namespace
}  // namespace plaq
