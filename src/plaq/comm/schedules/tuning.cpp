#include "plaq/comm/schedules/tuning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "plaq/base/error.hpp"

namespace plaq::comm {

tuning tuning::parse(std::string_view text, const std::string& name) {
  std::istringstream lines{std::string(text)};
  std::vector<row> rows;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string where = name + ", line " + std::to_string(number) + ": ";
    std::istringstream words(line.substr(0, line.find('#')));
    std::string what, how, more;
    row r{};
    if (!(words >> what)) continue;
    if (!(words >> r.ranks >> r.bytes >> how >> r.by.arity >> r.by.segment) || words >> more || r.ranks < 1 ||
        r.by.arity < 1)
      throw input_error(where + "'" + line + "' is not 'collective ranks bytes algorithm arity segment'");
    try {
      r.what = collective_named(what);
      r.by.how = algorithm_named(how);
    } catch (const input_error& e) {
      throw input_error(where + e.what());
    }
    if (const auto known = algorithms_for(r.what); std::ranges::find(known, r.by.how) == known.end())
      throw input_error(where + "there is no " + what + " by the algorithm " + how);
    if (r.by.arity < 2 && r.by.how != algorithm::chain) throw input_error(where + "only a chain may have the arity 1");
    rows.push_back(r);
  }
  return tuning(std::move(rows));
}

std::string tuning::path() {
  if (const char* file = std::getenv("PLAQ_COMM_TUNING")) return file;
  if (const char* folder = std::getenv("XDG_CONFIG_HOME")) return std::string(folder) + "/plaq/comm.tuning";
  const char* home = std::getenv("HOME");
  return home ? std::string(home) + "/.config/plaq/comm.tuning" : "";
}

tuning tuning::of_this_machine() {
  std::ifstream file(path());
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  return parse(text.str(), path());
}

std::string tuning::text() const {
  std::ostringstream out;
  for (const auto& r : rows_)
    out << name_of(r.what) << ' ' << r.ranks << ' ' << r.bytes << ' ' << name_of(r.by.how) << ' ' << r.by.arity << ' '
        << r.by.segment << '\n';
  return out.str();
}

method tuning::choose(collective what, const node_map& map, std::size_t bytes) const {
  const auto distance = [&](int ranks) { return std::abs(std::log(double(ranks) / map.size())); };
  const row* best = nullptr;
  for (const auto& r : rows_) {
    if (r.what != what || r.bytes > bytes) continue;
    if (!best || distance(r.ranks) < distance(best->ranks) ||
        (distance(r.ranks) == distance(best->ranks) && r.bytes >= best->bytes))
      best = &r;
  }
  return best ? best->by : default_method(what, map, bytes);
}

method default_method(collective what, const node_map& map, std::size_t bytes) {
  constexpr std::size_t kib = 1024;
  const int ranks = map.size();
  const int flat = std::max(2, ranks);
  if (map.oversubscribed() && map.nodes() == 1 && what != collective::all_to_all &&
      what != collective::reduce_scatter) {
    const bool is_long = bytes > 256 * kib;
    if (what == collective::inclusive_scan || what == collective::exclusive_scan) {
      if (bytes <= 4 * kib && ranks >= 8) return {algorithm::tree, flat, 0};
      return {algorithm::chain, 1, bytes > 4096 * kib ? 128 * kib : 0};  // segments that stay in the cache
    }
    if (what == collective::all_reduce && is_long) return {algorithm::halving, 2, 0};  // every core adds
    return {algorithm::tree, flat, what == collective::reduce && is_long ? 128 * kib : 0};
  }
  // Butterflies and halving pair groups of ranks. Ranks left over cost a message before and one after, and more
  // messages pass between nodes.
  const bool power_of_two = std::has_single_bit(unsigned(ranks));
  const bool butterflies = power_of_two || map.nodes() == 1;
  switch (what) {
    case collective::barrier: return {butterflies ? algorithm::butterfly : algorithm::tree, 4, 0};
    case collective::broadcast:
    case collective::reduce:
      if (bytes <= 16 * kib) return {algorithm::tree, ranks <= 8 ? flat : 4, 0};
      if (ranks <= 4) return {algorithm::tree, flat, 0};
      return {algorithm::tree, 2, 128 * kib};
    case collective::scatter:
    case collective::gather: return {algorithm::tree, bytes <= 2 * kib && ranks > 16 ? 4 : flat, 0};
    case collective::all_reduce:
      // From 4 KiB on a message within a node waits for its receiver (Open MPI); shares below that do not.
      if (bytes < 4 * kib || (ranks == 2 && bytes >= 8 * kib && bytes <= 32 * kib))
        return {butterflies ? algorithm::butterfly : algorithm::tree, 4, 0};
      if (map.nodes() == 1 && ranks <= 64) return {algorithm::direct, 2, 0};
      // Neighbours exchange first, and most: every byte passes between nodes about twice, for any number of ranks.
      if (power_of_two) return {algorithm::halving, 2, 0};
      if (bytes / std::size_t(ranks) >= 256 * kib) return {algorithm::ring, 2, 0};
      return bytes < 64 * kib ? method{algorithm::tree, 4, 0} : method{algorithm::chain, 2, 32 * kib};
    case collective::all_gather:
      return bytes <= 4 * kib ? method{algorithm::butterfly, 4, 0} : method{algorithm::ring, 2, 0};
    case collective::all_to_all:
      return bytes <= 256 && ranks > 8 ? method{algorithm::bruck, 4, 0} : method{algorithm::direct, 2, 0};
    case collective::reduce_scatter:
      return bytes <= 256 && ranks > 8 ? method{algorithm::tree, 4, 0} : method{algorithm::direct, 2, 0};
    case collective::inclusive_scan:
    case collective::exclusive_scan:
      if ((butterflies && bytes <= kib) || ranks == 2) return {algorithm::doubling, 2, 0};
      // A segment reaches the last rank after as many steps as there are ranks: good for many segments.
      return bytes >= 2 * kib * std::size_t(ranks) ? method{algorithm::chain, 1, 16 * kib}
                                                   : method{algorithm::tree, 4, 0};
  }
  throw runtime_failure("unknown collective");
}

}  // namespace plaq::comm
