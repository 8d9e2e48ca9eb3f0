// The checksum of zlib, PNG and Ethernet: CRC-32, reflected polynomial 0xedb88320.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace plaq {

namespace detail {
/// Table [k][b]: change of a checksum by byte b after k more bytes (Sarwate; Kounavis and Berry's "slicing by 8").
inline constexpr auto crc32_table = [] {
  std::array<std::array<std::uint32_t, 256>, 8> table{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t value = b;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0xedb88320u : 0u);
    table[0][b] = value;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 255];
  return table;
}();
}  // namespace detail

/// Returns the CRC-32 of `size` bytes that follow bytes with the CRC-32 `before`. Little endian machines.
inline std::uint32_t crc32(const void* bytes, std::size_t size, std::uint32_t before = 0) noexcept {
  const auto& table = detail::crc32_table;
  auto* at = static_cast<const unsigned char*>(bytes);
  std::uint32_t crc = ~before;
  for (; size >= 8; size -= 8, at += 8) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    word ^= crc;
    crc = 0;
    for (int i = 0; i < 8; ++i) crc ^= table[static_cast<std::size_t>(7 - i)][word >> 8 * i & 255];
  }
  for (; size > 0; --size, ++at) crc = (crc >> 8) ^ table[0][(crc ^ *at) & 255];
  return ~crc;
}

}  // namespace plaq
