#include "plaq/comm/collectives/collectives.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

}  // namespace

collectives::collectives(std::unique_ptr<wire> over)
    : collective_calls(over->rank(), over->size()),
      layout_(std::make_shared<group_layout>(node_map(over->size()))),  // one node, until ranks have agreed
      active_(std::make_unique<operations>(std::move(over))) {}

collectives::collectives(const communicator& over, collective_options options) : collectives(over.open_wire()) {
  const auto find_layout = [&] { layout_ = over.layout_ = agree_on_layout(over.wire_->split_by_node()); };
  if (over.layout_)
    layout_ = over.layout_;
  else
    find_layout();
  const auto [group, is_old] = agree_on_tuning();
  if (is_old) find_layout();
  schedules_.clear();  // those of the calls above, made without layout, table and options
  fixed_order_ = options.fixed_order;
  by_ = options.by;
  if (layout_->members) active_->answer_for(std::uint64_t(group), layout_);
}

std::shared_ptr<const group_layout> collectives::agree_on_layout(std::unique_ptr<wire> node_wire) {
  collectives node(std::move(node_wire));
  std::array<int, 1> leader{rank()};
  node.broadcast(leader);
  const int own = call_registry::world_rank();
  std::array<int, 4> most{node.size(), is_oversubscribed(node), own, -own};
  all_reduce(most, operation::max);
  const auto [per_node, oversubscribed, highest, minus_lowest] = most;

  const int lowest = -minus_lowest, step = size() > 1 ? (highest - lowest) / (size() - 1) : 1;
  const bool in_order = rank() == leader[0] + node.rank() && leader[0] % per_node == 0;
  const bool is_full = node.size() == per_node || leader[0] + node.size() == size();
  std::array<int, 2> irregular{!in_order || !is_full, own != lowest + step * rank()};
  all_reduce(irregular, operation::max);

  const auto gather_from_all = [&](int value) {
    std::vector<int> all(static_cast<std::size_t>(size()));
    all_gather(std::array{value}, all);
    return all;
  };
  group_layout layout{irregular[0] ? node_map(gather_from_all(leader[0]), oversubscribed)
                                   : node_map(size(), per_node, oversubscribed)};
  if (lowest >= 0) layout.members = irregular[1] ? world_ranks(gather_from_all(own)) : world_ranks(lowest, step);
  return std::make_shared<const group_layout>(std::move(layout));
}

std::pair<std::int64_t, bool> collectives::agree_on_tuning() {
  std::string text;
  // Number of the group, length of the table or of an error, whether it is one, whether rank 0 is new in the world.
  std::array<std::int64_t, 4> header{};
  if (rank() == 0) {
    bool is_wrong = false;
    try {
      text = tuning::of_this_machine().text();
    } catch (const input_error& error) {
      text = error.what();
      is_wrong = true;
    }
    const bool is_old = !layout_->members && call_registry::world_rank() >= 0;
    header = {call_registry::new_group(), std::int64_t(text.size()), is_wrong, is_old};
  }
  broadcast(header);
  text.resize(std::size_t(header[1]));
  if (!text.empty()) broadcast(text);
  if (header[2]) throw input_error(text);
  tuned_ = tuning::parse(text, "the tuning table of rank 0");
  return {header[0], header[3] != 0};
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
  const method m = tuned_.choose(wanted.what, layout_->nodes, wanted.bytes);
  if (fits(m)) return m;
  for (const auto how : algorithms_for(wanted.what))
    if (fits({how})) return {how};
  throw runtime_failure("no algorithm fits this call of " + std::string(name_of(wanted.what)));
}

std::shared_ptr<const schedule> collectives::schedule_for(const request& wanted) {
  const auto make = [&] {
    return std::make_shared<const schedule>(make_schedule(wanted, choice(wanted), layout_->nodes, rank()));
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
