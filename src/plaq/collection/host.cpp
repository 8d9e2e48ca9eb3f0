#include "plaq/collection/host.hpp"

#include <algorithm>
#include <exception>
#include <mutex>

#include "plaq/base/error.hpp"
#include "plaq/collection/guarded.hpp"
#include "plaq/collection/homes.hpp"
#include "plaq/collection/tags.hpp"

namespace plaq::elements {

host::host(kind of, const comm::communicator& over, task::detail::pool_base& pool)
    : kind_(std::move(of)),
      pool_(pool),
      thrown_before_(std::uncaught_exceptions()),
      messages_(over, pool),
      if_messages_fail_(messages_.stopping(), [this] {
        fault("rank " + std::to_string(rank()) + ": " + kind_.name +
              ": its messages have failed: " + messages_.under_way());
      }) {
  const auto counted = [this](auto handle) {
    return [this, handle](const auto& what, int sender) {
      guarded([&] { handle(what, sender); });
      ++handled_;
    };
  };
  messages_.on<letter>("message", tag::message,
                       counted([this](const letter& l, int from) { handle_message(l.bytes, from); }));
  messages_.on<letter>("move", tag::element, counted([this](const letter& l, int) { handle_element(l.bytes); }));
  messages_.on<notice>("notice", tag::notice, counted([this](const notice& n, int) { heard(n); }));
  messages_.on<contribution>("collect", tag::contribution, counted([this](const contribution& c, int) { heard(c); }));
  messages_.on<outcome>("outcome", tag::outcome, counted([this](const outcome& o, int) { heard(o); }));
  messages_.on<word>("word", tag::word, [this](word&& w, int) {
    guarded([&] { talk_of(w.at)->heard(std::move(w)); });
    ++handled_;
  });
  messages_.on<part_sum>("part", tag::part, counted([this](const part_sum& p, int) { heard(p); }));
  messages_.on<tally>("tally", tag::tally, [this](const tally& t, int) { guarded([&] { heard(t); }); });
  messages_.on<verdict>("verdict", tag::verdict, [this](const verdict& v, int) {
    guarded([&] {
      std::lock_guard lock(mutex_);
      apply(v);
      tally_up();
    });
  });
  messages_.on<std::string>("failure", tag::failure, [this](const std::string& why, int) { fail(why); });
}

host::~host() {
  if (std::uncaught_exceptions() > thrown_before_)
    fault("rank " + std::to_string(rank()) + ": " + kind_.name + ": left because of an error");
  sound_ = false;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return open_ == 0; });
}

host::shard& host::shard_of(key k) { return shards_[scatter(k) >> 58]; }

host::whereabouts host::known(const shard& in, key k) const {
  const auto found = in.elsewhere.find(k);
  return found == in.elsewhere.end() ? whereabouts{kind_.home(k), 0} : found->second;
}

void host::name_port(int port, std::string name) {
  std::lock_guard lock(steps_guard_);
  ports_.resize(std::max(ports_.size(), std::size_t(port) + 1));
  ports_[std::size_t(port)] = std::move(name);
}

std::string host::port_name(int port) const {
  std::lock_guard lock(steps_guard_);
  return std::size_t(port) < ports_.size() ? ports_[std::size_t(port)] : "port " + std::to_string(port);
}

void host::each_here(const std::function<void(element&)>& use) {
  std::vector<element*> all;
  for (shard& in : shards_) {
    std::lock_guard lock(in.guard);
    for (auto& [at, e] : in.here) all.push_back(e.get());
  }
  std::ranges::sort(all, {}, &element::at);
  for (element* e : all) use(*e);
}

void host::pack(const element& what, std::vector<std::byte>& to) {
  archive::pack(what.at, to);
  archive::pack(what.moves, to);
  archive::pack(what.next, to);
  archive::pack(what.taken_until, to);
  archive::pack(what.spent, to);
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

std::unique_ptr<element> host::unpack(comm::unpacker& from) const {
  const auto read = [&]<class V>(V value) {
    archive::unpack(value, from);
    return value;
  };
  auto out = kind_.make(read(key()));
  out->moves = read(out->moves);
  out->next = read(out->next);
  out->taken_until = read(out->taken_until);
  out->spent = read(std::move(out->spent));
  for (auto left = read(std::size_t()); left > 0; --left) {
    const auto [port, order, step, sender] = read(std::tuple<int, std::uint32_t, number, key>());
    const auto bytes = read(std::size_t());
    out->inbox.push_back({port, order, step, sender, std::make_unique<packed>(from.next(bytes))});
  }
  out->unpack_value(from);
  return out;
}

void visit::send(int port, key to, std::unique_ptr<payload> value) {
  of_.send({port, sent_++, now_.at, who_.at, std::move(value)}, to);
}

void visit::count_bytes(key to, double bytes) {
  for (auto& [receiver, sum] : who_.spent.sent)
    if (receiver == to) {
      sum += bytes;
      return;
    }
  who_.spent.sent.emplace_back(to, bytes);
}

}  // namespace plaq::elements
