// Where elements are. Each begins at home. A rank that an element leaves keeps where it went, with the number of its
// moves; so does its home, and who has sent it something by a detour. A message goes where its sender believes the
// receiver to be, with the number of moves that the belief is of. Who has not the element sends the message on if it
// knows of more moves, otherwise the element is still on its way there, and the message waits for it. So the number
// grows with every detour, and a message arrives whatever overtakes what.
#include <mutex>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"
#include "plaq/collection/guarded.hpp"
#include "plaq/collection/host.hpp"
#include "plaq/collection/tags.hpp"

namespace plaq::elements {

void host::send(message what, key to) { deliver(std::move(what), to, -1, rank()); }

/// `moves`: of the belief by which it came here, -1 for one that begins here.
void host::deliver(message&& what, key to, std::int64_t moves, int origin) {
  shard& in = shard_of(to);
  element* ready = nullptr;
  whereabouts there{};
  {
    std::lock_guard lock(in.guard);
    if (const auto found = in.here.find(to); found != in.here.end()) {
      if (!accept(*found->second, std::move(what))) return;
      ready = found->second.get();
    } else {
      there = known(in, to);
      if (there.rank == rank() || there.moves <= moves) {
        in.held[to].push_back(std::move(what));
        return;
      }
    }
  }
  if (ready) return start(*ready, *ready->waits_for);
  if (origin != rank()) ++forwarded_;
  const envelope about{to, what.from, what.step, there.moves, what.order, what.port, origin};
  post(letter{.write =
                  [&](std::vector<std::byte>& bytes) {
                    archive::pack(about, bytes);
                    what.value->pack(bytes);
                  }},
       there.rank, tag::message);
}

void host::handle_message(std::span<const std::byte> came, int sender) {
  comm::unpacker from(came);
  envelope about;
  archive::unpack(about, from);
  message what{about.port, about.order, about.step, about.from, std::make_unique<packed>(from.next(from.left()))};
  if (about.origin != sender && about.origin != rank()) {  // it came by a detour
    shard& in = shard_of(about.to);
    notice news{about.to, -1, rank()};
    {
      std::lock_guard lock(in.guard);
      if (const auto found = in.here.find(about.to); found != in.here.end()) news.moves = found->second->moves;
    }
    if (news.moves > 0) post(news, about.origin, tag::notice);
  }
  deliver(std::move(what), about.to, about.moves, about.origin);
}

void host::heard(const notice& of) {
  shard& in = shard_of(of.of);
  std::lock_guard lock(in.guard);
  if (!in.here.contains(of.of) && known(in, of.of).moves < of.moves) in.elsewhere[of.of] = {of.rank, of.moves};
}

/// Of an element that runs.
void host::move(element& e, int to) {
  if (to < 0 || to >= size())
    throw input_error(words_of(e.at) + " cannot move to rank " + std::to_string(to) + " of " + std::to_string(size()));
  shard& in = shard_of(e.at);
  std::unique_ptr<element> mine;
  {
    std::lock_guard lock(in.guard);
    const auto found = in.here.find(e.at);
    mine = std::move(found->second);
    in.here.erase(found);
    in.elsewhere[e.at] = {to, ++e.moves};  // as long as it is found here it says where it is
  }
  --here_;
  ++moved_;
  const stopwatch watch;
  post(letter{.write =
                  [&](std::vector<std::byte>& bytes) {
                    pack(*mine, bytes);
                    moved_bytes_ += double(bytes.size());
                  }},
       to, tag::element);
  moving_seconds_ += watch.seconds();
  if (const int home = kind_.home(e.at); home != rank() && home != to)
    post(notice{e.at, e.moves, to}, home, tag::notice);
}

/// Of an element that runs, and ends.
void host::remove(element& e) {
  if (kind_.fixed) throw input_error(words_of(e.at) + " cannot go: the elements of this collection are given");
  if (!e.inbox.empty())
    throw runtime_failure("rank " + std::to_string(rank()) + ": " + words_of(e.at) + " goes, but has a message from (" +
                          kind_.in_words(e.inbox.front().from) + ") that it has not taken");
  const int home = kind_.home(e.at);
  shard& in = shard_of(e.at);
  const notice news{e.at, e.moves + 1, home};
  std::unique_ptr<element> mine;
  {
    std::lock_guard lock(in.guard);
    const auto found = in.here.find(e.at);
    mine = std::move(found->second);
    in.here.erase(found);
    in.elsewhere[news.of] = {home, news.moves};
  }
  --here_;
  if (home != rank()) post(news, home, tag::notice);
}

void host::add(std::unique_ptr<element> fresh) {
  fresh->next = issued_;
  arrive(std::move(fresh));
}

void host::insert(std::unique_ptr<element> fresh, number next) {
  if (kind_.fixed) throw input_error(words_of(fresh->at) + " cannot come: the elements of this collection are given");
  fresh->next = next;
  fresh->moves = is_new;
  post(letter{.write = [&](std::vector<std::byte>& bytes) { pack(*fresh, bytes); }}, kind_.home(fresh->at),
       tag::element);
}

void host::handle_element(std::span<const std::byte> came) {
  const stopwatch watch;
  comm::unpacker from(came);
  auto fresh = unpack(from);
  from.need_end();
  moved_bytes_ += double(came.size());
  moving_seconds_ += watch.seconds();
  arrive(std::move(fresh));
}

void host::arrive(std::unique_ptr<element> came) {
  element& e = *came;
  shard& in = shard_of(e.at);
  {
    std::lock_guard lock(in.guard);
    if (in.here.contains(e.at)) throw input_error(words_of(e.at) + " is there already");
    // One that comes again is ahead of all that is known of the one that went, and of the notice that it did.
    if (e.moves == is_new) e.moves = in.elsewhere.contains(e.at) ? in.elsewhere[e.at].moves + 2 : 0;
    in.elsewhere.erase(e.at);
    in.here.emplace(e.at, std::move(came));
    if (const auto found = in.held.find(e.at); found != in.held.end()) {
      for (message& m : found->second) accept(e, std::move(m));
      in.held.erase(found);
    }
    ++here_;
    e.last = step_before(e.next);
    if (!e.last) {
      e.now = element::state::at_end;  // this rank's driver is not so far
      return;
    }
  }
  advance(e);
}

void host::release(const std::function<int(key)>& to) {
  std::vector<element*> held;
  for (shard& in : shards_) {
    std::lock_guard lock(in.guard);
    for (auto& [at, e] : in.here)
      if (e->now == element::state::held) {
        e->now = element::state::runs;
        held.push_back(e.get());
      }
  }
  for (element* e : held)
    if (const int rank = to(e->at); rank != this->rank())
      move(*e, rank);
    else
      advance(*e);
}

void host::forget_detours() {
  for (shard& in : shards_) {
    std::lock_guard lock(in.guard);
    std::erase_if(in.elsewhere, [&](const auto& known) { return kind_.home(known.first) != rank(); });
  }
}

}  // namespace plaq::elements
