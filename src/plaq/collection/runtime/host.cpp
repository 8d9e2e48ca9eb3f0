#include "plaq/collection/runtime/host.hpp"

#include <exception>
#include <unordered_map>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/base/stopwatch.hpp"

namespace plaq::elements {

host::host(element_type type, carrier by)
    : type_(std::move(type)),
      thrown_before_(std::uncaught_exceptions()),
      failure_("rank " + std::to_string(by.messages->rank()) + ": " + type_.name,
               [this](const std::string& why) { report_failure(why); }),
      directory_(by.messages->rank(), type_.home),
      termination_(type_.name, by.messages->rank(), by.messages->size(), termination_environment()),
      scheduler_(type_, by.messages->rank(), by.pool, directory_, termination_, failure_,
                 [this](running_step& of) { return end_step(of); }),
      reductions_(by.messages->rank(), by.messages->size(), reduction_environment()),
      protocols_(by.messages->rank(), by.messages->size(),
                 [this](const round_message& what, int to) { post(what, to, tag::protocol); }),
      messages_(std::move(by)),
      outbox_([this](std::vector<std::byte> bundle, int rank) {
        failure_.guard([&] {
          messages_.send(raw_bytes{.write = [&](std::vector<std::byte>& bytes) { bytes.swap(bundle); }}, rank,
                         tag::message);
        });
      }),
      on_message_failure_(messages_.stopping(),
                          [this] { failure_.raise_here("its messages failed: " + messages_.in_progress()); }) {
  on_messages();
}

/// Messages of waves that are still under way would reach the next communicator that gets the same number.
host::~host() {
  if (std::uncaught_exceptions() > thrown_before_)
    failure_.raise_here("destroyed because of an error");
  else if (scheduler_.issued() != waited_for_)
    termination_.wait();
  failure_.stop();
  termination_.stop();
  termination_.join();
}

/// Sets the handlers of messages.
void host::on_messages() {
  const auto counted = [this](auto handle) {
    return [this, handle](auto&& what, int sender) {
      failure_.guard([&] { handle(std::forward<decltype(what)>(what), sender); });
      termination_.count_handled();
    };
  };
  messages_.on<raw_bytes>("message", tag::message,
                          [this](const raw_bytes& m, int from) { receive_bundle(m.bytes, from); });
  messages_.on<raw_bytes>("move", tag::element, counted([this](const raw_bytes& m, int) { receive_element(m.bytes); }));
  messages_.on<location_update>("location", tag::location, counted([this](const location_update& u, int) {
                                  if (u.rank == rank()) directory_.count_removed();
                                  directory_.update(u);
                                }));
  messages_.on<contribution>("contribution", tag::contribution, counted([this](const contribution& c, int from) {
                               as_task([&] { reductions_.receive(c, from); });
                             }));
  messages_.on<reduction_result>("result", tag::result,
                                 counted([this](reduction_result&& r, int) { reductions_.receive(std::move(r)); }));
  messages_.on<round_message>("protocol", tag::protocol,
                              counted([this](round_message&& m, int) { protocols_.receive(std::move(m)); }));
  messages_.on<part_checksum>("part", tag::part, counted([this](const part_checksum& p, int) {
                                std::lock_guard lock(parts_guard_);
                                parts_.push_back(p);
                              }));
  messages_.on<wave_counts>("counts", tag::counts,
                            [this](const wave_counts& c, int) { failure_.guard([&] { termination_.receive(c); }); });
  messages_.on<decision>("decision", tag::decision,
                         [this](const decision& d, int) { failure_.guard([&] { termination_.receive(d); }); });
  messages_.on<std::string>("failure", tag::failure, [this](const std::string& why, int) { fail(why); });
}

reductions::environment host::reduction_environment() {
  return {.own_elements = [this] { return directory_.size(); },
          .all_elements = [this] { return total_.load(); },
          .elements_at_home = [this] { return type_.fixed ? directory_.at_home() : at_home_.load(); },
          .home = type_.home,
          .send_contribution = [this](const contribution& c, int to) { post(c, to, tag::contribution); },
          .send_result = [this](const reduction_result& r, int to) { post(r, to, tag::result); },
          .done =
              [this](step_number at) {
                scheduler_.forget_steps(at);
                window_.pass(at);
              }};
}

termination::environment host::termination_environment() {
  return {.flush =
              [this] {
                outbox_.flush();
                reductions_.flush();
              },
          .awaits_result = [this] { return reductions_.awaited() || window_.waits(); },
          .describe = [this](wave_counts& counts, bool unchanged) { describe(counts, unchanged); },
          .send_counts = [this](const wave_counts& c, int to) { messages_.send(c, to, tag::counts); },
          .send_decision = [this](const decision& d, int to) { messages_.send(d, to, tag::decision); },
          .send_failure = [this](const std::string& why, int to) { messages_.send(why, to, tag::failure); },
          .terminated =
              [this](std::uint64_t elements) {
                if (!type_.fixed) total_ = elements;
              }};
}

/// Sends a packed element, to arrive on a rank.
void host::post_element(const element& what, int rank) {
  post(raw_bytes{.write = [&](std::vector<std::byte>& bytes) { pack_element(what, bytes); }}, rank, tag::element);
}

std::string host::where() const { return "rank " + std::to_string(rank()) + ": "; }

/// Returns when the next step can be issued. Where elements come and go, only the end of all steps tells how many a
/// mark has to count.
void host::make_room() {
  failure_.rethrow();
  if (!window_.is_full(scheduler_.issued())) return;
  if (type_.fixed)
    window_.wait(scheduler_.issued(), [this] { as_task([] {}); });
  else
    wait();
  failure_.rethrow();
}

void host::issue(std::unique_ptr<step> next) {
  make_room();
  if (!type_.fixed || !window_.wants_mark(scheduler_.issued())) return scheduler_.issue(std::move(next));
  reductions::request mark{.name = next->name};
  mark.give = [](element&, std::vector<std::byte>&) { return false; };
  mark.take = [](auto, auto) {};
  mark.is_mark = true;
  issue_reduction(std::move(next), std::move(mark));
}

void host::reduce(reductions::request what) {
  make_room();
  auto next = std::make_unique<step>(what.name);
  next->holds = what.holds;
  issue_reduction(std::move(next), std::move(what));
}

/// Issuing a reduction counts as a task, which begins before this rank is seen to wait for the result: nothing
/// terminates before it has ended.
void host::issue_reduction(std::unique_ptr<step> next, reductions::request what) {
  as_task([&] {
    next->reduces = true;
    const step_number at = scheduler_.issued();
    window_.mark(at);
    reductions_.begin(at, std::move(what));
    scheduler_.issue(std::move(next));
    reductions_.proceed(at);
  });
}

void host::wait() {
  failure_.rethrow();
  termination_.wait();
  failure_.rethrow();
  waited_for_ = scheduler_.issued();
  directory_.forget_detours();
  scheduler_.forget_steps(scheduler_.issued() - 1);
  window_.pass(scheduler_.issued() - 1);
}

void host::for_each(const std::function<void(element&)>& use) {
  for (element* e : directory_.sorted()) use(*e);
}

/// In the task of a step that has run. Returns whether its element goes on.
bool host::end_step(running_step& of) {
  element& e = of.of;
  if (!of.now.reduces) return !leave(of);
  reductions_.contribute(of.now.number, e, [&] {
    if (of.now.holds) {
      const auto lock = directory::lock(e);
      e.now = element::status::held;  // before its contribution counts, so before release()
    } else if (!leave(of)) {
      scheduler_.advance(e);
    }
  });
  return false;
}

/// Moves or removes the element if its step has asked for that. Returns whether it has.
bool host::leave(running_step& of) {
  if (of.removes)
    remove(of.of);
  else if (of.destination >= 0 && of.destination != rank())
    move(of.of, of.destination);
  else
    return false;
  return true;
}

void host::send(std::unique_ptr<message> what, key to) { deliver(std::move(what), to, -1, rank()); }

/// Delivers or forwards a message. `moves`: of the entry that led it here, -1 where it begins; `origin`: rank of the
/// sender.
void host::deliver(std::unique_ptr<message> what, key to, std::int64_t moves, int origin) {
  element* ready = nullptr;
  const auto there = directory_.deliver(to, moves, std::move(what), [&](element& e, std::unique_ptr<message> m) {
    if (scheduler_.accept(e, std::move(m))) ready = &e;
  });
  if (ready) return scheduler_.start(*ready);
  if (!there) return;
  if (origin != rank()) ++forwarded_;
  std::vector<std::byte> packed;
  archive::pack(message_header{to, what->from, what->step, there->moves, what->order, what->port, origin}, packed);
  what->value.pack(packed);
  termination_.count_sent();
  outbox_.add(packed, there->rank);
}

/// Receives messages of elements. Each counts for termination.
void host::receive_bundle(std::span<const std::byte> bytes, int sender) {
  for_each_message(bytes, [&](std::span<const std::byte> packed) {
    failure_.guard([&] { receive_message(packed, sender); });
    termination_.count_handled();
  });
}

void host::receive_message(std::span<const std::byte> bytes, int sender) {
  comm::unpacker from(bytes);
  message_header header;
  archive::unpack(header, from);
  auto what = std::make_unique<message>(header.port, header.order, header.step, header.from,
                                        message_value::packed(from.next(from.left())));
  if (header.origin != sender && header.origin != rank())  // it was forwarded
    if (const auto moves = directory_.moves_of(header.to); moves && *moves > 0)
      post(location_update{header.to, *moves, rank()}, header.origin, tag::location);
  deliver(std::move(what), header.to, header.moves, header.origin);
}

/// Moves a running element.
void host::move(element& e, int to) {
  if (to < 0 || to >= size())
    throw input_error(type_.describe(e.id) + " cannot move to rank " + std::to_string(to) + " of " +
                      std::to_string(size()));
  const auto leaving = directory_.remove(e, to);
  ++moved_;
  const stopwatch watch;
  post(raw_bytes{.write =
                     [&](std::vector<std::byte>& bytes) {
                       pack_element(*leaving, bytes);
                       moved_bytes_ += double(bytes.size());
                     }},
       to, tag::element);
  moving_seconds_ += watch.seconds();
  if (const int home = directory_.home(leaving->id); home != rank() && home != to)
    post(location_update{leaving->id, leaving->moves, to}, home, tag::location);
}

/// Removes a running element for good. Its home then has an entry of one move more, to itself.
void host::remove(element& e) {
  if (type_.fixed)
    throw input_error(type_.describe(e.id) + " cannot be removed: the elements of this collection are fixed");
  if (const message* left = e.any_message())
    throw runtime_failure(where() + type_.describe(e.id) + " is removed with an unread message from (" +
                          type_.in_words(left->from) + ")");
  const int home = directory_.home(e.id);
  const auto removed = directory_.remove(e, home);
  if (home != rank())
    post(location_update{removed->id, removed->moves, home}, home, tag::location);
  else
    directory_.count_removed();
}

void host::add(std::unique_ptr<element> fresh) {
  fresh->next_step = scheduler_.issued();
  arrive(std::move(fresh));
}

void host::insert(std::unique_ptr<element> fresh, step_number next) {
  if (type_.fixed)
    throw input_error(type_.describe(fresh->id) + " cannot be inserted: the elements of this collection are fixed");
  fresh->next_step = next;
  fresh->moves = directory::is_new;
  post_element(*fresh, directory_.home(fresh->id));
}

void host::receive_element(std::span<const std::byte> bytes) {
  const stopwatch watch;
  comm::unpacker from(bytes);
  auto fresh = unpack_element(from, type_);
  from.need_end();
  moved_bytes_ += double(bytes.size());
  moving_seconds_ += watch.seconds();
  arrive(std::move(fresh));
}

void host::arrive(std::unique_ptr<element> fresh) {
  const key id = fresh->id;
  element* e = directory_.insert(std::move(fresh),
                                 [&](element& to, std::unique_ptr<message> m) { scheduler_.accept(to, std::move(m)); });
  if (!e) throw input_error(type_.describe(id) + " exists already");
  scheduler_.begin(*e);
}

void host::release(const std::vector<std::pair<key, int>>& moves) {
  const std::unordered_map<key, int> to(moves.begin(), moves.end());
  std::vector<element*> held;
  directory_.for_each([&](element& e) {
    if (e.now != element::status::held) return;
    e.now = element::status::running;
    held.push_back(&e);
  });
  for (element* e : held)
    if (const auto found = to.find(e->id); found != to.end() && found->second != rank())
      move(*e, found->second);
    else
      scheduler_.advance(*e);
}

void host::balance(step_number at, balance::participant self, balance::protocol by, peer_protocol::done over,
                   std::function<void(std::exception_ptr)> fail) {
  protocols_.begin(at, std::move(self), by, type_.home, std::move(over), std::move(fail));
}

/// Adds this rank to the counts of a wave. Called while no element is running.
void host::describe(wave_counts& counts, bool unchanged) {
  counts.elements = directory_.size();
  at_home_ = directory_.at_home();
  counts.least_steps = counts.most_steps = scheduler_.issued();
  if (!unchanged) return;
  directory_.for_each_awaited([&](key id, const message_list& messages) {
    const message& first = *messages.first();
    counts.receiver.keep_first(first.step, id, [&] {
      return where() + type_.describe(id) + " does not exist, but has a message from (" + type_.in_words(first.from) +
             ")";
    });
  });
  directory_.for_each([&](const element& e) {
    if (e.now == element::status::waiting)
      counts.element.keep_first(e.awaited_step->number, e.id, [&] { return where() + scheduler_.describe_wait(e); });
  });
  reductions_.for_each_awaited([&](step_number at, std::string_view name) {
    counts.reduction.keep_first(at, 0, [&] {
      return type_.name + ": step " + std::to_string(at) + " '" + std::string(name) +
             "' differs from the call of another rank";
    });
  });
}

/// Fails this rank with its own failure, and sends it to the other ranks.
void host::report_failure(const std::string& why) noexcept {
  fail(why);
  try {
    for (int other = 0; other < size(); ++other)
      if (other != rank()) messages_.send(why, other, tag::failure);
  } catch (...) {  // the others learn of it when this rank ends
  }
}

void host::fail(const std::string& why) noexcept {
  failure_.set(why);
  termination_.stop();
  window_.stop();
  const auto error = std::make_exception_ptr(runtime_failure(why));
  reductions_.fail(error);
  protocols_.fail(error);
}

}  // namespace plaq::elements
