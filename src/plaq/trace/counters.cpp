#include "plaq/trace/counters.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "plaq/base/error.hpp"

namespace plaq::trace {

namespace {

std::mutex sources_lock;
std::vector<counter_source*>& sources() {
  static auto& all = *new std::vector<counter_source*>;  // sources may be static objects of any file
  return all;
}

}  // namespace

counter_source::counter_source(std::function<void(std::vector<sample>&)> read) : read_(std::move(read)) {
  std::lock_guard lock(sources_lock);
  sources().push_back(this);
}

counter_source::~counter_source() {
  std::lock_guard lock(sources_lock);
  std::erase(sources(), this);
}

counter::counter(label name, label unit)
    : source_([this, name, unit](std::vector<sample>& out) {
        out.push_back({std::string(name.view()), std::string(unit.view()), -1, -1, value()});
      }) {}

std::vector<sample> read_counters() {
  std::vector<sample> all, out;
  detail::read_system(out);
  {
    std::lock_guard lock(sources_lock);
    for (counter_source* source : sources()) source->read_(all);
  }
  std::map<std::tuple<std::string_view, int, long>, std::size_t> places;
  for (const sample& s : all) {
    const auto [found, fresh] = places.try_emplace({s.name, s.worker, s.thread}, out.size());
    if (fresh)
      out.push_back(s);
    else
      out[found->second].value += s.value;
  }
  return out;
}

double read_counter(std::string_view name) {
  double sum = 0;
  bool found = false;
  std::set<std::string> known;
  for (const sample& s : read_counters()) {
    known.insert(s.name);
    if (s.name == name) sum += s.value, found = true;
  }
  if (found) return sum;
  std::string message = "unknown counter '" + std::string(name) + "'; allowed:";
  const char* comma = " ";
  for (const std::string& other : known) message.append(comma).append("'" + other + "'"), comma = ", ";
  throw input_error(known.empty() ? message + " none" : message);
}

}  // namespace plaq::trace
