#include "plaq/dca/channels.hpp"

#include <string>

#include "plaq/base/error.hpp"

namespace plaq::dca {

channel channel_named(std::string_view name) {
  if (name == "pp") return channel::pp;
  if (name == "magnetic") return channel::magnetic;
  if (name == "charge") return channel::charge;
  throw input_error("two-particle channel '" + std::string(name) + "' is unknown; allowed: pp, magnetic, charge");
}

}  // namespace plaq::dca
