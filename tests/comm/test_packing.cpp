// Values as bytes.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plaq/base/error.hpp"
#include "plaq/comm/messages/packing.hpp"

namespace own {

/// A type of somebody else's.
struct particle {
  std::string name;
  std::vector<double> x;
  bool operator==(const particle&) const = default;
};

}  // namespace own

template <>
struct plaq::comm::packing<own::particle> {
  static void write(const own::particle& p, std::vector<std::byte>& to) {
    packing<std::string>::write(p.name, to);
    packing<std::vector<double>>::write(p.x, to);
  }
  static own::particle read(unpacker& from) {
    std::string name = packing<std::string>::read(from);
    return {std::move(name), packing<std::vector<double>>::read(from)};
  }
};

namespace {

using namespace plaq::comm;

template <class T>
std::vector<std::byte> packed_bytes(const T& value) {
  std::vector<std::byte> bytes;
  packing<T>::write(value, bytes);
  return bytes;
}

/// It comes back; no shorter, no longer one does, and no damaged one ends the process.
template <class T>
void comes_back(const T& value) {
  const auto bytes = packed_bytes(value);
  EXPECT_EQ(unpack<T>(bytes), value);
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_THROW((void)unpack<T>(std::span(bytes).first(n)), plaq::runtime_failure) << n << " of " << bytes.size();
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THROW((void)unpack<T>(longer), plaq::runtime_failure);
  std::mt19937 random(5);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    auto damaged = bytes;
    damaged[n] ^= std::byte(1 + random() % 255);
    try {
      (void)unpack<T>(damaged);
    } catch (const plaq::runtime_failure&) {
    }
  }
}

TEST(packing, brings_every_value_back_and_refuses_every_part_of_it) {
  comes_back(7);
  comes_back(std::array<float, 3>{1, 2, 3});
  comes_back(std::string("plaquette"));
  comes_back(std::string());
  comes_back(std::vector<double>{});
  comes_back(std::vector<double>{1, -2, 3.5});
  comes_back(std::vector<std::string>{"", "a", "bc"});
  comes_back(std::vector<std::vector<int>>{{1}, {}, {2, 3}});
  comes_back(std::pair<int, double>(1, 2.));
  comes_back(std::pair<std::string, std::vector<std::pair<int, std::string>>>("x", {{1, "y"}, {2, ""}}));
  comes_back(own::particle{"e", {1, 2}});
  comes_back(std::vector<own::particle>{{"e", {1}}, {"p", {}}});
}

TEST(packing, appends) {
  std::vector<std::byte> bytes;
  packing<int>::write(1, bytes);
  packing<std::string>::write("two", bytes);
  packing<std::vector<int>>::write({3, 3, 3}, bytes);
  unpacker from(bytes);
  EXPECT_EQ(packing<int>::read(from), 1);
  EXPECT_EQ(packing<std::string>::read(from), "two");
  EXPECT_THROW(from.need_end(), plaq::runtime_failure);
  EXPECT_EQ(from.left(), sizeof(std::size_t) + 3 * sizeof(int));
  EXPECT_EQ(packing<std::vector<int>>::read(from), (std::vector{3, 3, 3}));
  EXPECT_NO_THROW(from.need_end());
}

// A length that no message could have takes no memory first.
TEST(packing, does_not_believe_lengths) {
  for (const std::size_t length : {std::size_t(3), std::size_t(1) << 40, ~std::size_t(0)}) {
    auto bytes = packed_bytes(length);
    EXPECT_THROW((void)unpack<std::vector<double>>(bytes), plaq::runtime_failure);
    EXPECT_THROW((void)unpack<std::string>(bytes), plaq::runtime_failure);
    EXPECT_THROW((void)unpack<std::vector<std::string>>(bytes), plaq::runtime_failure);
  }
}

}  // namespace
