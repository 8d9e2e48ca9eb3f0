// JSON of the heads of blocks.
#pragma once
#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace plaq::trace::detail {

inline std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      out.append(code);
    } else {
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

/// Object {"name": value, ...}, built up one by one.
class json_object {
 public:
  json_object& add(std::string_view name, std::string_view text) { return member(name, json_text(text)); }
  json_object& add(std::string_view name, std::integral auto number) { return member(name, std::to_string(number)); }
  json_object& add(std::string_view name, const json_object& inner) { return member(name, inner.text()); }
  std::string text() const { return body_.empty() ? "{}" : body_ + '}'; }

 private:
  json_object& member(std::string_view name, std::string_view value) {
    body_.append(body_.empty() ? "{" : ",").append(json_text(name)).append(":").append(value);
    return *this;
  }
  std::string body_;
};

}  // namespace plaq::trace::detail
