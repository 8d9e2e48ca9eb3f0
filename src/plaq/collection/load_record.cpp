#include "plaq/collection/load_record.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::elements {

namespace {

/// Appends the shortest text that reads back to the same number.
template <class Number>
void add(std::string& line, Number value) {
  std::array<char, 40> text;
  line.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}
template <class Number, std::size_t N>
void add(std::string& line, const std::array<Number, N>& values) {
  for (std::size_t d = 0; d < N; ++d) add(line += d ? ',' : '[', values[d]);
  line += ']';
}
void add(std::string& line, const balance::edge& e) {
  add(line += '[', e.a);
  add(line += ',', e.b);
  add(line += ',', e.weight);
  line += ']';
}
template <class Values>
void add_field(std::string& line, const char* name, const Values& values) {
  line += std::string(",\"") + name + "\":[";
  bool first = true;
  for (const auto& value : values) {
    if (!std::exchange(first, false)) line += ',';
    add(line, value);
  }
  line += ']';
}
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

load_record::load_record(std::filesystem::path file, const std::string& name, const std::string& unit)
    : file_(std::move(file)), out_(file_, std::ios::binary) {
  put("{\"plaq loads\":1,\"name\":" + quoted(name) + ",\"unit\":" + quoted(unit) + "}");
}

void load_record::write(const std::vector<key>& keys, const balance::load_distribution& s, const std::string& by,
                        const balance::plan& to) {
  std::string line =
      "{\"ranks\":" + std::to_string(s.ranks) + ",\"ranks_per_node\":" + std::to_string(s.ranks_per_node);
  if (std::isfinite(s.most_bytes)) add(line += ",\"most_bytes\":", s.most_bytes);
  line += ",\"by\":" + quoted(by);
  add_field(line, "keys", keys);
  add_field(line, "loads", s.loads);
  add_field(line, "where", s.rank_of);
  add_field(line, "to", to);
  add_field(line, "bytes", s.sizes);
  add_field(line, "positions", s.positions);
  add_field(line, "points", s.points);
  add_field(line, "edges", s.edges);
  put(line + "}");
}

void load_record::put(const std::string& line) {
  out_ << line << '\n' << std::flush;
  if (!out_) throw runtime_failure("the loads of a balancing cannot be written to " + file_.string());
}

}  // namespace plaq::elements
