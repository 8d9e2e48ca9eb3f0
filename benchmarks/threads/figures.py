"""The figures of the study; each takes a `plaq.data.figures.Theme`."""

from __future__ import annotations

from peers import CASES, Peers
from solver import Study
from traced import Traces, idle_rate, queue_length

from plaq.data.figures import subplots

BACKENDS = ("fiber", "os", "hpx")


def colour(theme, engine: str) -> str:
    names = [*(f"plaq_{name}" for name in BACKENDS), "hpx", "boost_fiber", "tbb"]
    return theme.series[names.index(engine)] if engine in names else theme.ink


def micro(peers: Peers):
    """Small things on two workers, whiskers from the least to the largest; efficiency of a loop."""

    def draw(theme):
        figure, axes = subplots(1, 2, figsize=(11, 4.6))
        width = 0.8 / len(peers.engines)
        for n, engine in enumerate(peers.engines):
            keys = [(i, (engine, case, 2, 0.0, "ns")) for i, case in enumerate(CASES)]
            keys = [(i, key) for i, key in keys if peers(*key) is not None]
            middle = [peers(*key) for _, key in keys]
            low, high = zip(*(peers.range_of(*key) for _, key in keys))
            whiskers = [[m - a for m, a in zip(middle, low)], [b - m for m, b in zip(middle, high)]]
            axes[0].bar([i + (n + 0.5) * width - 0.4 for i, _ in keys], middle, width, yerr=whiskers, label=engine,
                        color=colour(theme, engine), ecolor=theme.ink, error_kw={"elinewidth": 0.8})
        axes[0].set(yscale="log", ylabel="ns", title="Small things, two workers", xticks=range(len(CASES)),
                    xticklabels=[case.replace("_", " ") for case in CASES])
        axes[0].grid(axis="x", visible=False)
        for engine in peers.engines:
            if points := peers.curve(engine):
                axes[1].plot(*zip(*points), marker="o", color=colour(theme, engine))
        axes[1].axhline(0.9, color=theme.ink, lw=0.8, ls="--")
        axes[1].set(xscale="log", xlabel="work of a piece, µs", ylabel="efficiency", ylim=(0, 1.05),
                    title="Loop of 1024 pieces, two workers")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(peers.engines))
        return figure

    return draw


def solver(study: Study):
    """Time to solution, context switches and cores in use, means with standard errors."""

    def draw(theme):
        figure, axes = subplots(1, 3, figsize=(11, 3.8))
        names = list(study.runs)
        places = range(len(names))

        def bars(axis, quantity, shift=0.0, width=0.7, factor=1.0, **look):
            found = [study.mean(threads, quantity) for threads in study.runs]
            axis.bar([i + shift for i in places], [factor * mean for mean, _ in found], width,
                     yerr=[factor * error for _, error in found], ecolor=theme.ink, **look)

        by_backend = [colour(theme, f"plaq_{threads}") for threads in study.runs]
        bars(axes[0], "wall", color=by_backend)
        axes[0].set(title="Time to solution, s")
        bars(axes[1], "voluntary", -0.2, 0.4, label="voluntary", color=theme.series[3])
        bars(axes[1], "involuntary", 0.2, 0.4, label="involuntary", color=theme.series[4])
        axes[1].set(yscale="symlog", title="Context switches of the kernel")
        axes[1].margins(y=0.25)
        axes[1].legend(loc="upper center", ncols=2)
        bars(axes[2], "used", factor=100.0, color=by_backend)
        axes[2].set(title="Cores in use, %")
        for axis in axes:
            axis.set_xticks(places, names, fontsize=8)
            axis.grid(axis="x", visible=False)
        return figure

    return draw


def timelines(traces: Traces):
    """Idle rate and queue length over time in one traced run of each."""

    def draw(theme):
        figure, axes = subplots(2, 1, figsize=(7, 5), sharex=True)
        for threads, found in traces.runs.items():
            look = {"color": colour(theme, f"plaq_{threads}"), "label": threads, "lw": 1.1}
            axes[0].plot(*idle_rate(found), drawstyle="steps-pre", **look)
            axes[1].plot(*queue_length(found), drawstyle="steps-post", **look)
        axes[0].set(ylabel="idle rate, %", ylim=(-3, 103))
        axes[1].set(ylabel="queue length, tasks", xlabel="time, s")
        axes[0].legend(loc="upper center", ncols=3)
        return figure

    return draw
