#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "plaq/trace/json.hpp"

namespace plaq::trace::detail {

TEST(Json, TextIsEscapedWhereJsonWantsIt) {
  EXPECT_EQ(json_text(""), R"("")");
  EXPECT_EQ(json_text("a \"b\" \\ c"), R"("a \"b\" \\ c")");
  EXPECT_EQ(json_text(std::string_view("\0\t\n\x1f", 4)), R"("\u0000\u0009\u000a\u001f")");
  EXPECT_EQ(json_text("\x7f ω \xf0\x9f\x98\x80"), "\"\x7f ω \xf0\x9f\x98\x80\"");  // UTF-8 stays
}

TEST(Json, ObjectsKeepTheirOrderAndNest) {
  EXPECT_EQ(json_object().text(), "{}");
  json_object inner;
  inner.add("x\"y", "z");
  EXPECT_EQ(json_object()
                .add("least", std::numeric_limits<std::int64_t>::min())
                .add("most", std::numeric_limits<std::uint64_t>::max())
                .add("inner", inner)
                .add("empty", json_object())
                .text(),
            R"({"least":-9223372036854775808,"most":18446744073709551615,"inner":{"x\"y":"z"},"empty":{}})");
}

}  // namespace plaq::trace::detail
