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
  std::vector<step_number> taken_until;
  std::size_t messages = 0;
  for (const port_queue& q : what.inbox) {
    taken_until.push_back(q.taken_until);
    q.for_each([&](const message&) { ++messages; });
  }
  archive::pack(taken_until, to);
  archive::pack(what.load, to);
  archive::pack(messages + what.calls.size(), to);
  const auto pack = [&](const message& m) {
    archive::pack(std::tuple(m.port, m.order, m.step, m.from), to);
    const std::size_t begin = to.size();
    archive::pack(std::size_t(0), to);
    m.value.pack(to);
    const std::size_t bytes = to.size() - begin - sizeof bytes;
    std::memcpy(to.data() + begin, &bytes, sizeof bytes);
  };
  for (const port_queue& q : what.inbox) q.for_each(pack);
  for (const message* m = what.calls.first(); m; m = m->next) pack(*m);
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
  const auto taken_until = read(std::vector<step_number>());
  for (std::size_t port = 0; port < taken_until.size(); ++port)
    out->queue_of(int(port)).taken_until = taken_until[port];
  out->load = read(std::move(out->load));
  for (auto left = read(std::size_t()); left > 0; --left) {
    const auto [port, order, step, sender] = read(std::tuple<int, std::uint32_t, step_number, key>());
    const auto bytes = read(std::size_t());
    check(port < most_ports && port > -most_ports, "a message of an element has no port");
    auto what = std::make_unique<message>(port, order, step, sender, message_value::packed(from.next(bytes)));
    if (port < 0)
      out->add_call(std::move(what));
    else
      out->queue_of(port).add(std::move(what));
  }
  out->unpack_value(from);
  return out;
}

}  // namespace plaq::elements
