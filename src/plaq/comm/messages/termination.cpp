#include "plaq/comm/messages/termination.hpp"

#include <array>
#include <optional>
#include <vector>

namespace plaq::comm {

namespace {

/// What a wave brings down from the first rank.
struct verdict {
  bool quiet = false;
  std::string error;
};

using three = std::array<std::uint64_t, 3>;

}  // namespace

template <>
struct packing<tally> {
  static void write(const tally& t, std::vector<std::byte>& to) {
    packing<three>::write({t.sent, t.handled, t.left}, to);
    packing<std::string>::write(t.error, to);
    packing<std::string>::write(t.which, to);
  }
  static tally read(unpacker& from) {
    const auto [sent, handled, left] = packing<three>::read(from);
    std::string error = packing<std::string>::read(from);
    return {sent, handled, left, std::move(error), packing<std::string>::read(from)};
  }
};
template <>
struct packing<verdict> {
  static void write(const verdict& v, std::vector<std::byte>& to) {
    packing<bool>::write(v.quiet, to);
    packing<std::string>::write(v.error, to);
  }
  static verdict read(unpacker& from) {
    const bool quiet = packing<bool>::read(from);
    return {quiet, packing<std::string>::read(from)};
  }
};

namespace {

void add(tally& sum, const tally& other) {
  sum.sent += other.sent;
  sum.handled += other.handled;
  sum.left += other.left;
  if (sum.error.empty()) sum.error = other.error;
  if (sum.which.empty()) sum.which = other.which;
}

verdict judge(const std::optional<tally>& before, const tally& now) {
  if (!now.error.empty()) return {true, now.error};
  if (!before || before->handled + before->left != now.sent) return {};
  return {true, before->which};
}

}  // namespace

std::string wait_for_quiet(messenger& over, int tag, const std::function<tally()>& look) {
  const int me = over.rank(), parent = (me - 1) / 2;
  std::vector<int> children;
  for (int child = 2 * me + 1; child <= 2 * me + 2 && child < over.size(); ++child) children.push_back(child);
  std::optional<tally> before;
  for (;;) {
    tally sum = look();
    for (const int child : children) add(sum, over.irecv_object<tally>(child, tag).get());
    verdict found = me == 0 ? judge(before, sum) : verdict();
    if (me > 0) {
      over.isend_object(sum, parent, tag).get();
      found = over.irecv_object<verdict>(parent, tag).get();
    }
    for (const int child : children) over.isend_object(found, child, tag).get();
    if (found.quiet) return found.error;
    before = std::move(sum);
  }
}

}  // namespace plaq::comm
