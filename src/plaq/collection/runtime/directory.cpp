#include "plaq/collection/runtime/directory.hpp"

#include <algorithm>

namespace plaq::elements {

directory::shard& directory::shard_of(key id) { return shards_[scatter(id) >> 58]; }

location directory::entry(const shard& in, key id) const {
  const auto found = in.forwarding.find(id);
  return found == in.forwarding.end() ? location{home_(id), 0} : found->second;
}

std::unique_ptr<element> directory::remove(element& e, int rank) {
  shard& in = shard_of(e.id);
  std::lock_guard lock(in.guard);
  const auto found = in.elements.find(e.id);
  std::unique_ptr<element> out = std::move(found->second);
  in.elements.erase(found);
  in.forwarding[e.id] = {rank, ++e.moves};
  --size_;
  return out;
}

location directory::find(key id) {
  shard& in = shard_of(id);
  std::lock_guard lock(in.guard);
  return entry(in, id);
}

std::optional<std::int64_t> directory::moves_of(key id) {
  shard& in = shard_of(id);
  std::lock_guard lock(in.guard);
  const auto found = in.elements.find(id);
  return found == in.elements.end() ? std::nullopt : std::optional(found->second->moves);
}

void directory::update(const location_update& of) {
  shard& in = shard_of(of.id);
  std::lock_guard lock(in.guard);
  if (!in.elements.contains(of.id) && entry(in, of.id).moves < of.moves) in.forwarding[of.id] = {of.rank, of.moves};
}

void directory::forget_detours() {
  for (shard& in : shards_) {
    std::lock_guard lock(in.guard);
    std::erase_if(in.forwarding, [&](const auto& entry) { return home_(entry.first) != rank_; });
  }
}

std::vector<element*> directory::sorted() {
  std::vector<element*> all;
  for_each([&](element& e) { all.push_back(&e); });
  std::ranges::sort(all, {}, &element::id);
  return all;
}

}  // namespace plaq::elements
