// Requests that begin on a rank after the failure of another one: they fail too, so nobody waits for them.
#include <gtest/gtest.h>

#include <exception>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"
#include "plaq/collection/runtime/peer_protocol.hpp"
#include "plaq/collection/runtime/reductions.hpp"

namespace plaq::elements {
namespace {

std::exception_ptr error_of(const char* why) { return std::make_exception_ptr(runtime_failure(why)); }

std::string text_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const runtime_failure& failure) {
    const std::string said = failure.what();
    return said.substr(0, said.find(" ["));
  }
  return "";
}

TEST(after_failure, a_reduction_fails_with_the_first_error) {
  reductions::environment here;
  here.own_elements = here.elements_at_home = [] { return 1; };
  reductions all(0, 2, here);
  std::string before, after;
  all.begin(0, {.name = "before", .fail = [&](std::exception_ptr why) { before = text_of(why); }});
  all.fail(error_of("first"));
  all.fail(error_of("second"));
  all.begin(1, {.name = "after", .fail = [&](std::exception_ptr why) { after = text_of(why); }});
  EXPECT_EQ(before, "first");
  EXPECT_EQ(after, "first");
  EXPECT_FALSE(all.awaited());
}

TEST(after_failure, a_balancing_fails_with_the_first_error) {
  peer_protocols all(0, 2, [](const round_message&, int) {});
  all.fail(error_of("first"));
  all.fail(error_of("second"));
  std::string after;
  all.begin(
      0, {}, {}, [](key) { return 0; }, [](const auto&) { FAIL(); },
      [&](std::exception_ptr why) { after = text_of(why); });
  EXPECT_EQ(after, "first");
}

}  // namespace
}  // namespace plaq::elements
