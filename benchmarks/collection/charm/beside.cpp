// What bench_collection and bench_balancers measure, in Charm++: a step of an element that takes one message or four,
// a migration, and what its balancers make of the same loads.
//   charmc beside.ci && charmc -O3 -optimize -production -module CommonLBs beside.cpp -o beside
//   ./beside +p1               steps:      processor time in ns per element and step, the least of 9
//   ./beside +p2               migrations: processor time in ns each, the least of 9
//   ./beside FILE +p64 +setcpuaffinity +balancer GreedyRefineLB    imbalance before and after, share that moved
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <vector>

#include "beside.decl.h"

CProxy_Main conductor;
std::vector<double> load;  // read before there is anybody else
std::vector<int> where;
int extent = 1;  // of the mesh that is measured

struct Word : CMessage_Word {
  int left;
  double u;
};

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * double(now.tv_sec) + double(now.tv_nsec);
}

constexpr int samples = 9;

struct Main : CBase_Main {
  explicit Main(CkArgMsg* m) {
    conductor = thisProxy;
    if (m->argc > 1) {
      std::ifstream file(m->argv[1]);
      for (double l; file >> l;) {
        load.push_back(l);
        int rank;
        file >> rank;
        where.push_back(rank);
      }
      CkArrayOptions how(int(load.size()));
      how.setMap(CProxy_Homes::ckNew());
      piles = CProxy_Pile::ckNew(how);
      began = CkWallTimer();
      piles.balance();
    } else if (CkNumPes() == 1) {
      next_case();
    } else {
      nomads = CProxy_Nomad::ckNew(n * n);
      start();
    }
    delete m;
  }
  void next_case() {
    n = extent = 16 << 2 * (kind % 3);
    steps = std::max(4, 200000 / (n * n));
    if (kind < 6)
      ring = CProxy_Ring::ckNew(n * n);
    else
      cells = CProxy_Cell::ckNew(n, n);
    sample = 0;
    least = 1e300;
    start();
  }
  void start() {
    from = processor_time();
    if (CkNumPes() > 1)
      nomads.begin(steps);
    else if (kind < 6)
      ring.begin(steps, kind < 3);
    else
      cells.begin(steps);
  }
  void over() {
    least = std::min(least, (processor_time() - from) / (double(n) * n) / steps);
    if (++sample < samples) return start();
    if (CkNumPes() > 1) {
      std::printf("migrate %dx%d: %.0f\n", n, n, least);
      return CkExit();
    }
    const char* names[] = {"1 message, handed on", "1 message, packed", "4 messages, packed"};
    std::printf("%s, %dx%d: %.0f\n", names[kind / 3], n, n, least);
    if (++kind == 9) return CkExit();
    next_case();
  }
  void loads(int many, double of[]) {
    const double seconds = CkWallTimer() - began;
    const int p = CkNumPes();
    std::vector<double> before(std::size_t(p), 0.0);
    double all = 0;
    for (std::size_t i = 0; i < load.size(); ++i) before[std::size_t(where[i])] += load[i], all += load[i];
    std::printf("%d PEs, %zu elements: I before %.3f, after %.3f, moved %.3f, %.4f s\n", p, load.size(),
                *std::max_element(before.begin(), before.end()) * p / all - 1,
                *std::max_element(of, of + many - 1) * p / all - 1, of[many - 1] / double(load.size()), seconds);
    CkExit();
  }

  CProxy_Ring ring;
  CProxy_Cell cells;
  CProxy_Nomad nomads;
  CProxy_Pile piles;
  int kind = 0, n = 64, steps = 50, sample = 0;
  double from = 0, least = 1e300, began = 0;
};

struct Ring : CBase_Ring {
  Ring() = default;
  explicit Ring(CkMigrateMessage*) {}
  int next() const { return (thisIndex + 1) % (extent * extent); }
  void begin(int steps, bool whole) {
    if (whole) {
      auto* w = new Word;
      w->left = steps - 1;
      w->u = 1;
      thisProxy[next()].take(w);
    } else {
      thisProxy[next()].take_packed(steps - 1, 1.0);
    }
    due += steps;  // some may have come already
  }
  void take(Word* w) {
    sum += long(w->u);
    if (w->left-- > 0)
      thisProxy[next()].take(w);
    else
      delete w;
    done();
  }
  void take_packed(int left, double u) {
    sum += long(u);
    if (left > 0) thisProxy[next()].take_packed(left - 1, u);
    done();
  }
  void done() {
    if (--due == 0) contribute(CkCallback(CkReductionTarget(Main, over), conductor));
  }
  int due = 0;
  long sum = 0;
};

struct Cell : CBase_Cell {
  Cell() = default;
  explicit Cell(CkMigrateMessage*) {}
  void begin(int many) {
    steps = many;
    now = 0;
    runs = true;
    send();
    go_on();
  }
  void send() {
    const int n = extent, x = thisIndex.x, y = thisIndex.y;
    thisProxy((x + 1) % n, y).halo(now, u);
    thisProxy((x + n - 1) % n, y).halo(now, u);
    thisProxy(x, (y + 1) % n).halo(now, u);
    thisProxy(x, (y + n - 1) % n).halo(now, u);
  }
  void halo(int step, double v) {
    sum += long(v);
    ++came[step % 2];
    go_on();
  }
  void go_on() {
    while (runs && came[now % 2] == 4) {
      came[now % 2] = 0;
      if (++now < steps) {
        send();
      } else {
        runs = false;
        contribute(CkCallback(CkReductionTarget(Main, over), conductor));
      }
    }
  }
  int steps = 0, now = 0, came[2] = {0, 0};
  bool runs = false;
  double u = 1;
  long sum = 0;
};

struct Nomad : CBase_Nomad {
  Nomad() = default;
  explicit Nomad(CkMigrateMessage*) {}
  void begin(int moves) {
    left = moves;
    go();
  }
  void go() {
    if (left-- == 0) return contribute(CkCallback(CkReductionTarget(Main, over), conductor));
    thisProxy[thisIndex].go();  // after the move
    migrateMe(1 - CkMyPe());
  }
  void pup(PUP::er& p) {
    p | left;
    p | u;
    p | sum;
  }
  int left = 0;
  double u = 1;
  long sum = 0;
};

struct Homes : CBase_Homes {
  Homes() = default;
  explicit Homes(CkMigrateMessage* m) : CBase_Homes(m) {}
  int procNum(int, const CkArrayIndex& at) override { return where[std::size_t(at.data()[0])]; }
};

struct Pile : CBase_Pile {
  Pile() {
    usesAtSync = true;
    usesAutoMeasure = false;
  }
  explicit Pile(CkMigrateMessage*) {
    usesAutoMeasure = false;
    moved = 1;
  }
  void balance() { AtSync(); }
  void UserSetLBLoad() override { setObjTime(load[std::size_t(thisIndex)]); }
  void ResumeFromSync() override {
    std::vector<double> of(std::size_t(CkNumPes()) + 1, 0.0);
    of[std::size_t(CkMyPe())] = load[std::size_t(thisIndex)];
    of.back() = moved;
    contribute(int(of.size() * sizeof(double)), of.data(), CkReduction::sum_double,
               CkCallback(CkReductionTarget(Main, loads), conductor));
  }
  void pup(PUP::er&) {}
  double moved = 0;
};

#include "beside.def.h"
