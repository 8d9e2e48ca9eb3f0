#include "plaq/comm/collectives/collectives.hpp"

#include <algorithm>
#include <cmath>

#include "plaq/base/error.hpp"
#include "plaq/task/cores.hpp"

namespace plaq::comm {

namespace {

constexpr std::size_t most_schedules = 256;

/// Returns whether the node has more ranks than cores.
bool is_oversubscribed(collectives& node) {
  auto cpus = node.all_gather_any(task::detail::allowed_cpus()).values;
  std::ranges::sort(cpus);
  double cores = double(std::ranges::unique(cpus).begin() - cpus.begin());
  if (const double limit = task::detail::cgroup_limit("/"); limit > 0) cores = std::min(cores, std::ceil(limit));
  return node.size() > cores;
}

/// Information of a rank for the others of its group: its node, as a rank of it; its rank in the world; a number for
/// the group.
struct rank_info {
  int node, world_rank;
  std::int64_t number;
};

std::vector<rank_info> exchange_info(collectives& group, collectives& node) {
  std::array<int, 1> leader{group.rank()};
  node.broadcast(leader);
  const std::array<rank_info, 1> own{
      {{leader[0], call_registry::world_rank(), group.rank() == 0 ? call_registry::new_group() : 0}}};
  std::vector<rank_info> all(std::size_t(group.size()));
  group.all_gather(own, all);
  return all;
}

node_map make_node_map(collectives& group, collectives& node, const std::vector<rank_info>& all) {
  std::array<int, 1> oversubscribed{is_oversubscribed(node)};
  group.all_reduce(oversubscribed, operation::max);
  std::vector<int> node_of;
  for (const auto& info : all) node_of.push_back(info.node);
  return node_map(node_of, oversubscribed[0]);
}

/// Returns rank 0's table, since the files of two machines may differ. If its file is wrong, all ranks throw its error:
/// the first byte of the message tells a table from an error.
tuning tuning_of(collectives& group) {
  std::string own;
  if (group.rank() == 0) try {
      own = 't' + tuning::of_this_machine().text();
    } catch (const input_error& error) {
      own = std::string("e") + error.what();
    }
  const auto received = group.all_gather_any(own).values;
  const std::string text(received.begin() + 1, received.end());
  if (received[0] == 'e') throw input_error(text);
  return tuning::parse(text, "the tuning table of rank 0");
}

}  // namespace

collectives::collectives(std::unique_ptr<wire> over)
    : collective_calls(over->rank(), over->size()),
      node_map_(over->size()),
      active_(std::make_unique<operations>(std::move(over))) {}

collectives::collectives(const communicator& over, collective_options options) : collectives(over.open_wire()) {
  // Until ranks have exchanged their nodes, they are treated as on one node.
  collectives node(over.split_by_node().open_wire());
  const auto all = exchange_info(*this, node);
  node_map_ = make_node_map(*this, node, all);
  tuned_ = tuning_of(*this);
  fixed_order_ = options.fixed_order;
  by_ = options.by;
  schedules_.clear();
  if (std::ranges::any_of(all, [](const auto& one) { return one.world_rank < 0; })) return;
  std::vector<int> members;
  for (const auto& info : all) members.push_back(info.world_rank);
  active_->answer_for(std::uint64_t(all[0].number), std::move(members));
}

method collectives::choice(const request& wanted) const {
  const auto fits = [&](const method& m) {
    const auto known = algorithms_for(wanted.what);
    const bool tree = m.how == algorithm::tree || m.how == algorithm::chain;
    return std::ranges::find(known, m.how) != known.end() && (tree || wanted.first_piece.empty()) &&
           (takes_blocks_of_any_length(wanted.what, m.how) || wanted.first_byte.empty()) &&
           (!wanted.fixed_order || keeps_fixed_order(wanted.what, m.how, size()));
  };
  if (by_ && fits(*by_)) return *by_;
  const method m = tuned_.choose(wanted.what, node_map_, wanted.bytes);
  if (fits(m)) return m;
  for (const auto how : algorithms_for(wanted.what))
    if (fits({how})) return {how};
  throw runtime_failure("no algorithm fits this call of " + std::string(name_of(wanted.what)));
}

std::shared_ptr<const schedule> collectives::schedule_for(const request& wanted) {
  const auto make = [&] {
    return std::make_shared<const schedule>(make_schedule(wanted, choice(wanted), node_map_, rank()));
  };
  if (!wanted.first_piece.empty() || !wanted.first_byte.empty()) return make();
  const std::array<std::size_t, 5> key{std::size_t(wanted.what), std::size_t(wanted.root), wanted.bytes, wanted.grain,
                                       wanted.fixed_order};
  if (const auto found = schedules_.find(key); found != schedules_.end()) return found->second;
  if (schedules_.size() >= most_schedules) schedules_.clear();
  return schedules_[key] = make();
}

operations::prepared_operation collectives::prepare(described_call&& what) {
  static const auto labels = [] {
    std::vector<trace::label> all;
    for (int i = 0; i <= int(collective::exclusive_scan); ++i) all.emplace_back(name_of(collective(i)));
    return all;
  }();
  static const trace::label exchange("exchange");
  if (what.combine && (active_->on_device(what.input) || active_->on_device(what.output)))
    throw input_error(std::string(name_of(what.wanted.what)) +
                      ": a buffer is memory of a GPU; values are combined in host memory only");
  const std::string_view name = what.of_neighbours ? "exchange" : name_of(what.wanted.what);
  const std::uint64_t bytes = what.todo ? collective_call::any_length : what.wanted.bytes;
  return {
      what.of_neighbours ? exchange : labels[std::size_t(what.wanted.what)],
      what.todo ? std::move(what.todo) : schedule_for(what.wanted),
      what.input,
      what.output,
      std::move(what.combine),
      std::move(what.at_end),
      {name, bytes, std::uint32_t(what.wanted.root), std::uint32_t(what.wanted.grain << 1 | what.wanted.fixed_order)}};
}

std::vector<std::size_t> collectives::first_bytes(std::size_t own) {
  std::vector<std::size_t> first{0}, all(static_cast<std::size_t>(size()));
  iall_gather(std::span(&own, 1), all).get();
  for (const auto n : all) first.push_back(first.back() + n);
  return first;
}

std::vector<std::int64_t> collectives::number_pieces(std::size_t values, std::size_t length) {
  if (length == 0 || values % length != 0)
    throw input_error("all_reduce_pieces: " + std::to_string(values) + " values are not pieces of " +
                      std::to_string(length));
  const std::array<std::int64_t, 1> own{std::int64_t(values / length)};
  std::vector<std::int64_t> first{0}, all(size());
  all_gather(own, all);
  for (const auto n : all) first.push_back(first.back() + n);
  if (first.back() == 0) throw input_error("all_reduce_pieces: no rank has a piece");
  return first;
}

}  // namespace plaq::comm
