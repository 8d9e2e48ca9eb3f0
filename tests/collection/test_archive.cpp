// Sizes, packing and unpacking from one description.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
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

static_assert(serializable<patch> && serializable<double> && serializable<std::vector<patch>>);
static_assert(!serializable<int*> && !serializable<std::map<int, int>> &&
              !serializable<std::vector<std::vector<int*>>>);

}  // namespace
}  // namespace plaq
