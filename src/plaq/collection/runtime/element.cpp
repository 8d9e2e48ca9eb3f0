#include "plaq/collection/runtime/element.hpp"

#include <cstring>
#include <tuple>

namespace plaq::elements {

void measured_load::count_bytes(key to, double bytes) {
  for (auto& [receiver, sum] : sent)
    if (receiver == to) {
      sum += bytes;
      return;
    }
  sent.emplace_back(to, bytes);
}

void pack_element(const element& what, std::vector<std::byte>& to) {
  archive::pack(what.id, to);
  archive::pack(what.moves, to);
  archive::pack(what.next_step, to);
  archive::pack(what.taken_until, to);
  archive::pack(what.load, to);
  archive::pack(what.inbox.size(), to);
  for (const message& m : what.inbox) {
    archive::pack(std::tuple(m.port, m.order, m.step, m.from), to);
    const std::size_t begin = to.size();
    archive::pack(std::size_t(0), to);
    m.value->pack(to);
    const std::size_t bytes = to.size() - begin - sizeof bytes;
    std::memcpy(to.data() + begin, &bytes, sizeof bytes);
  }
  what.pack_value(to);
}

std::unique_ptr<element> unpack_element(comm::unpacker& from, const element_type& type) {
  const auto read = [&]<class V>(V value) {
    archive::unpack(value, from);
    return value;
  };
  auto out = type.make(read(key()));
  out->moves = read(out->moves);
  out->next_step = read(out->next_step);
  out->taken_until = read(out->taken_until);
  out->load = read(std::move(out->load));
  for (auto left = read(std::size_t()); left > 0; --left) {
    const auto [port, order, step, sender] = read(std::tuple<int, std::uint32_t, step_number, key>());
    const auto bytes = read(std::size_t());
    out->inbox.push_back({port, order, step, sender, std::make_unique<packed_payload>(from.next(bytes))});
  }
  out->unpack_value(from);
  return out;
}

}  // namespace plaq::elements
