#include "plaq/lqcd/hopping.hpp"

#include <algorithm>
#include <utility>

#include "plaq/base/error.hpp"

namespace plaq::lqcd {

template <class T>
hopping<T>::hopping(engine& by, links<T> gauge) : by_(by), gauge_(std::move(gauge)) {
  const layout& where = gauge_.where();
  check(product(where.on().grid) == by.messages.size() && where.on().rank == by.messages.rank(),
        "a lattice's ranks are not those of its messages");
  for (int d = 0; d < neighbours; ++d) {
    if (!where.is_cut(d / 2)) continue;
    const auto size = std::size_t(where.face_size(d / 2)) * 12;
    faces_[d].ready.resize(size * where.lanes());
    faces_[d].send.resize(size * where.lanes_at_edge(d).size());
    faces_[d].came.resize(faces_[d].send.size());
  }
}

template <class T>
hop_work<T> hopping<T>::work(const spinors<T>& in, int parity, bool dagger) {
  hop_work<T> w{&gauge_.where(), parity, {gauge_.of(0), gauge_.of(1)}, in.of(1 - parity), nullptr, dagger};
  for (int d = 0; d < neighbours; ++d) w.faces[d] = faces_[d].ready.data();
  return w;
}

template <class T>
template <class F>
void hopping<T>::exchange(const hop_work<T>& work, int step, F&& meanwhile) {
  const layout& where = gauge_.where();
  // Who is ahead sends what blocks ahead would have been, and the other way about.
  std::array<task::future<comm::status>, neighbours> coming;
  std::vector<task::future<comm::status>> going;
  const auto peer = [&](int d, bool there) {
    return where.on().neighbour_rank(d / 2, (d % 2 == 0) == there ? 1 : -1);
  };
  for (int d = 0; d < neighbours; d += step)
    if (where.is_cut(d / 2)) coming[d] = by_.messages.irecv(std::span(faces_[d].came), peer(d, true), d);
  for (int d = 0; d < neighbours; d += step) {
    if (!where.is_cut(d / 2)) continue;
    by_.hands.each("pack", std::size_t(where.face_size(d / 2)), [&](std::size_t begin, std::size_t end) {
      pack_face(work, d, begin, end, faces_[d].send.data());
    });
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

template <class T>
void hopping<T>::operator()(spinors<T>& out, const spinors<T>& in, int parity, const hop_options<T>& how) {
  const layout& where = gauge_.where();
  check(out.has(parity) && in.has(1 - parity) && (!how.phi || how.phi->has(parity)),
        "the hopping matrix leads from one parity to the other");
  auto w = work(in, parity, how.dagger);
  w.out = out.of(parity), w.c = how.c, w.d = how.d;
  if (how.phi) w.phi = how.phi->of(parity);
  const auto hop_all = [&](const std::vector<std::int32_t>& blocks) {
    by_.hands.each("hop", blocks.size(), [&](std::size_t begin, std::size_t end) {
      hop(w, std::span(blocks).subspan(begin, end - begin));
    });
  };
  exchange(w, 1, [&] { hop_all(where.inside(parity)); });
  hop_all(where.outside(parity));
}

template <class T>
void hopping<T>::derivative(links<T>& m, const spinors<T>& X, const spinors<T>& Y) {
  const layout& where = gauge_.where();
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

template class hopping<double>;
template class hopping<float>;

}  // namespace plaq::lqcd
