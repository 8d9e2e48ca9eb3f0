// Channels of two-particle functions.
#pragma once
#include <string_view>

namespace plaq::dca {

/// Product of two single-particle functions that is averaged. k = (K, w_n), q = (Q, 2 pi m / beta):
///   pp           G_up(k, k') G_down(q-k, q-k')                                    averaged over up <-> down
///   magnetic     1/2 sum_{s s'} s s' G_s(k+q, k) G_s'(k', k'+q) - 1/2 sum_s G_s(k', k) G_s(k+q, k'+q)
///   charge       the same without s s'
/// The transverse function is the magnetic one, by rotation of the spins: see docs/conventions.md.
enum class channel { pp, magnetic, charge };

/// Returns the channel of this name; throws an input_error where there is none.
channel channel_named(std::string_view name);

/// A two-particle function to be measured: its channel, at transfer (Q, m).
struct channel_request {
  channel kind;
  int transfer;  ///< index of Q
  int bosonic;   ///< m
};

}  // namespace plaq::dca
