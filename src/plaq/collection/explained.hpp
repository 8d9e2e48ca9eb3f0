// Arguments of constructors of collections, and what the compiler says where they do not fit.
#pragma once
#include <concepts>
#include <cstdlib>
#include <filesystem>

#include "plaq/collection/balancing.hpp"
#include "plaq/collection/collection_group.hpp"
#include "plaq/collection/homes.hpp"

namespace plaq {

/// Folder that a collection was saved to.
struct checkpoint {
  std::filesystem::path folder;
};

namespace elements {

/// Arguments of a constructor after the homes: a function that makes elements or a checkpoint, if any, and a load.
template <class Index, class... Arguments>
inline constexpr bool begins_with = false;
template <class Index, std::convertible_to<load>... Load>
  requires(sizeof...(Load) < 2)
inline constexpr bool begins_with<Index, Load...> = true;
template <class Index, class From, std::convertible_to<load>... Load>
  requires(sizeof...(Load) < 2 && !std::convertible_to<From, load>)
inline constexpr bool begins_with<Index, From, Load...> =
    std::convertible_to<From, checkpoint> || std::invocable<From&, const Index&>;

template <class Index, class... Arguments>
inline constexpr bool has_homes = false;
template <class Index, std::convertible_to<homes<Index>> Homes, class... Rest>
inline constexpr bool has_homes<Index, Homes, Rest...> = true;

template <class Index, class... Arguments>
inline constexpr bool third_has_homes = false;
template <class Index, class Second, class... Rest>
inline constexpr bool third_has_homes<Index, Second, Rest...> = has_homes<Index, Rest...>;

template <class Index, class... Arguments>
inline constexpr bool makes_collection = false;
template <class Index, std::convertible_to<const collection_group&> Group, class Homes, class... Rest>
inline constexpr bool makes_collection<Index, Group, Homes, Rest...> =
    has_homes<Index, Homes> && begins_with<Index, Rest...>;
template <class Index, std::convertible_to<const comm::communicator&> World,
          std::convertible_to<task::detail::pool_base&> Pool, class Homes, class... Rest>
inline constexpr bool makes_collection<Index, World, Pool, Homes, Rest...> =
    has_homes<Index, Homes> && begins_with<Index, Rest...>;

/// Says which arguments of a constructor do not fit.
template <class Index, class First, class... Rest>
const collection_group& explain_collection() {
  constexpr bool grouped = std::convertible_to<First, const collection_group&>;
  constexpr bool homes_fit = grouped ? has_homes<Index, Rest...> : third_has_homes<Index, Rest...>;
  static_assert(
      homes_fit,
      "the arguments are a name, a communicator and a pool or a collection_group, and the homes of this type of index, "
      "such as row_homes(box(n)): collection(\"name\", world, pool, homes, make)");
  static_assert(!homes_fit, "after the homes comes make(index), a function of an index, or a checkpoint");
  std::abort();
}

}  // namespace elements

}  // namespace plaq
