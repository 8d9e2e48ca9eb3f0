#include <gtest/gtest.h>

#include <string>

#include "plaq/base/crc32.hpp"

namespace plaq {

TEST(Crc32, IsThatOfTheStandard) {
  EXPECT_EQ(crc32("123456789", 9), 0xcbf43926u);  // the "check" of CRC catalogues
  EXPECT_EQ(crc32("", 0), 0u);
}

TEST(Crc32, OfPiecesIsThatOfTheWhole) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>(37 * i);
  const std::uint32_t whole = crc32(text.data(), text.size());
  for (std::size_t cut = 0; cut <= text.size(); ++cut)
    EXPECT_EQ(crc32(text.data() + cut, text.size() - cut, crc32(text.data(), cut)), whole) << cut;
}

}  // namespace plaq
