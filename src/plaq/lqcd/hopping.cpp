#include "plaq/lqcd/hopping.hpp"

#include <algorithm>
#include <complex>
#include <string>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

namespace {

/// The links to the neighbours of each site. Where they lie with another rank, which multiplies with them, others are
/// in their place.
template <class T>
near_links<T> gathered(engine& by, const links<T>& gauge) {
  const layout& where = gauge.where();
  near_links<T> near(gauge.shared_layout());
  by.hands.each("gather links", std::size_t(where.blocks()), [&](std::size_t begin, std::size_t end) {
    for (auto b = std::int64_t(begin); b < std::int64_t(end); ++b)
      for (int d = 0; d < neighbours; ++d) {
        const int n = where.lanes();
        const bool cut = where.edges(b) >> (8 + d) & 1;
        const auto behind = cut ? where.face(b >= where.half(), d)[where.next(b)[d]] : where.next(b)[d];
        const T* from = gauge.block(d % 2 ? behind : b) + d / 2 * 18 * n;
        T* to = near.block(b) + d * 12 * n;
        const bool moves = d % 2 && where.edges(b) >> d & 1;
        for (int i = 0; i < 12; ++i)
          for (int l = 0; l < n; ++l) to[i * n + l] = from[i * n + (moves ? where.lane_from(d)[l] : l)];
      }
  });
  return near;
}

/// Whether third rows are what they should be, to about half the digits.
template <class T>
void check_unitary(const links<T>& gauge, const std::array<std::complex<T>, 4>& turns) {
  each_site(gauge.where(), [&](const coordinates& x, layout::place p) {
    for (int mu = 0; mu < 4; ++mu)
      for (int j = 0; j < 3; ++j) {
        const auto u = [&](int i, int k) { return gauge.get(p, 9 * mu + 3 * i + (j + k) % 3); };
        const auto third = turns[mu] * std::conj(u(0, 1) * u(1, 2) - u(0, 2) * u(1, 1));
        if (!(std::abs(third - u(2, 0)) < 1e-4))
          throw input_error("the link at site " + in_words(x) + " in direction " + std::to_string(mu) +
                            " is not in SU(3): the Wilson operator needs links that are");
      }
  });
}

}  // namespace

template <class T, class S>
hopping<T, S>::hopping(engine& by, const links<T>& gauge, const std::array<std::complex<T>, 4>& turns)
  requires std::same_as<T, S>
    : by_(by), links_(gathered(by, gauge)), turns_(turns) {
  check_unitary(gauge, turns_);
  make_room();
}

template <class T, class S>
hopping<T, S>::hopping(const hopping<double>& of, std::shared_ptr<const layout> where)
    : by_(of.by_), links_(std::move(where)) {
  for (int mu = 0; mu < 4; ++mu) turns_[mu] = std::complex<T>(of.turns_[mu]);
  copy(of.links_, links_, [](double x) {
    if constexpr (std::same_as<S, fixed16>)
      return to_fixed16(x);
    else
      return S(x);
  });
  make_room();
}

template <class T, class S>
void hopping<T, S>::make_room() {
  const layout& where = links_.where();
  // Of near_links and the two fields of half the sites; today's caches hold between 16 and 64 MiB for a core.
  const auto bytes = links_.size() * sizeof(S) + std::size_t(where.blocks()) * 24 * where.lanes() * sizeof(T);
  prefetch_ = bytes > (std::size_t(16) << 20), stream_ = bytes > (std::size_t(64) << 20);
  if constexpr (std::same_as<T, S>)
    if (!prefetch_ && where.lanes() == widest<T>()) {
      third_rows_.emplace(links_.shared_layout());
      by_.hands.each("third rows", std::size_t(where.blocks()), [&](std::size_t begin, std::size_t end) {
        work_out(*third_rows_, links_, turns_, std::int64_t(begin), std::int64_t(end));
      });
    }
  check(product(where.on().grid) == by_.messages.size() && where.on().rank == by_.messages.rank(),
        "a lattice's ranks are not those of its messages");
  for (int d = 0; d < neighbours; ++d) {
    if (!where.is_cut(d / 2)) continue;
    const auto size = std::size_t(where.face_size(d / 2)) * 12;
    faces_[d].ready.resize(size * where.lanes());
    faces_[d].send.resize(size * where.lanes_at_edge(d).size());
    faces_[d].came.resize(faces_[d].send.size());
  }
}

template <class T, class S>
hop_work<T, S> hopping<T, S>::work(const spinors<T>& in, int parity, bool dagger) {
  hop_work<T, S> w{&links_.where(), parity, links_.data(), turns_, in.of(1 - parity), nullptr, dagger};
  w.prefetch = prefetch_, w.stream = stream_;
  if (third_rows_) w.third_rows = third_rows_->data();
  for (int d = 0; d < neighbours; ++d) w.faces[d] = faces_[d].ready.data();
  return w;
}

template <class T, class S>
template <class F>
void hopping<T, S>::exchange(const hop_work<T, S>& work, int step, F&& meanwhile) {
  const layout& where = links_.where();
  // Who is ahead sends what blocks ahead would have been, and the other way about.
  std::array<task::future<comm::status>, neighbours> coming;
  std::vector<task::future<comm::status>> going;
  const auto peer = [&](int d, bool there) { return where.on().neighbour_rank(d / 2, (d % 2 == 0) == there ? 1 : -1); };
  for (int d = 0; d < neighbours; d += step)
    if (where.is_cut(d / 2)) coming[d] = by_.messages.irecv(std::span(faces_[d].came), peer(d, true), d);
  for (int d = 0; d < neighbours; d += step) {
    if (!where.is_cut(d / 2)) continue;
    by_.hands.each("pack", std::size_t(where.face_size(d / 2)),
                   [&](std::size_t begin, std::size_t end) { pack_face(work, d, begin, end, faces_[d].send.data()); });
    going.push_back(by_.messages.isend(std::span(faces_[d].send), peer(d, false), d));
  }
  meanwhile();
  for (int d = 0; d < neighbours; d += step) {
    if (!where.is_cut(d / 2)) continue;
    coming[d].get();
    unpack_face(work, d, 0, std::size_t(where.face_size(d / 2)), faces_[d].came.data());
  }
  for (auto& g : going) g.get();
}

template <class T, class S>
void hopping<T, S>::operator()(spinors<T>& out, const spinors<T>& in, int parity, const hop_options<T>& how) {
  const layout& where = links_.where();
  check(out.has(parity) && in.has(1 - parity) && (!how.phi || how.phi->has(parity)),
        "the hopping matrix leads from one parity to the other");
  auto w = work(in, parity, how.dagger);
  w.out = out.of(parity), w.c = how.c, w.d = how.d;
  if (how.phi) w.phi = how.phi->of(parity);
  const auto hop_all = [&](const std::vector<std::int32_t>& blocks) {
    by_.hands.each("hop", blocks.size(),
                   [&](std::size_t begin, std::size_t end) { hop(w, std::span(blocks).subspan(begin, end - begin)); });
  };
  exchange(w, 1, [&] { hop_all(where.inside(parity)); });
  hop_all(where.outside(parity));
}

template <class T, class S>
void hopping<T, S>::derivative(links<T>& m, const spinors<T>& X, const spinors<T>& Y)
  requires std::same_as<T, S>
{
  const layout& where = links_.where();
  check(X.which() == sites::all && Y.same_places(X), "a derivative is that of fields on all sites");
  std::fill_n(m.data(), m.size(), T(0));
  for (const int p : {0, 1})
    for (const bool dagger : {false, true}) {
      derivative_work<T> w{work(dagger ? Y : X, p, dagger), (dagger ? X : Y).of(p), m.of(p)};
      exchange(w.of, 2, [] {});
      by_.hands.each("derivative", std::size_t(where.half()), [&](std::size_t begin, std::size_t end) {
        lqcd::derivative(w, p * where.half() + std::int64_t(begin), p * where.half() + std::int64_t(end));
      });
    }
}

template <class T, class S>
std::array<std::complex<T>, 9> hopping<T, S>::link(layout::place at, int mu) const
  requires std::same_as<T, S>
{
  std::array<std::complex<T>, 9> u;
  for (int i = 0; i < 6; ++i) u[i] = links_.get(at, 12 * mu + i);
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3, l = (j + 2) % 3;
    u[6 + j] = turns_[mu] * std::conj(u[k] * u[3 + l] - u[l] * u[3 + k]);
  }
  return u;
}

template class hopping<double>;
template class hopping<float>;
template class hopping<float, fixed16>;

}  // namespace plaq::lqcd
