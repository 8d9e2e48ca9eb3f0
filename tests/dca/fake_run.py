"""``plaq`` with a loop that makes up its results, slowly when asked to: what the command line does around a run.

Each temperature takes FAKE_STEPS steps of FAKE_SECONDS; a running sum over all steps stands for the Markov
chains. With FAKE_FIGURES=no, figures and report are left out, which take most of the time.
"""

import os
import sys
import time
import types

import no_figures
import synthetic

from plaq.dca.loop.state import RunState
from plaq.dca.physics.transition import transition
from plaq.dca.results.results import Results
from plaq.errors import RunError


class Loop:
    def __init__(self, parameters, run, observer, state=None, started=None):
        self.p, self.comm, self.observer = parameters, run.comm, observer
        fresh = RunState(asked=list(parameters.asked()), seconds={"step": 0, "sum": 0.0})
        self._state = self.comm.bcast(state) or fresh

    def state(self):
        return self._state.plain()

    def distributed_numbers(self):
        return None

    def steps(self):
        state, temperatures = self._state, self.p.dca.temperatures
        steps = int(os.environ.get("FAKE_STEPS", "2"))
        while state.index < len(temperatures):
            T = temperatures[state.index]
            state.seconds["step"] += 1
            state.seconds["sum"] += 0.1 * state.seconds["step"]
            time.sleep(float(os.environ.get("FAKE_SECONDS", "0")))
            if os.environ.get("FAKE_FAILURE") == str(state.index) and self.comm.rank == self.comm.size - 1:
                raise RunError(f"NaN in the determinant at T = {T}")
            self.observer.show_status(T=T, index=state.index, temperatures=len(temperatures), iteration=1,
                                      iterations=steps, mu=2.0, sign=0.9, sign_error=0.01, phase="walk")
            self.observer.report_iteration({
                "T": T, "iteration": state.seconds["step"], "mu": 2.0, "density": 0.95, "sign": 0.9, "order": 40.0,
                "change": 0.01, "change_error": 0.01, "measurements": 1000, "seconds": {"walk": time.time() % 1}})
            if state.seconds["step"] == steps:
                point = synthetic.point(self.p, state.index)
                point.observables["energy"].mean += state.seconds["sum"]
                state.points.append(point)
                self.observer.record_point(point)
                state.index, state.seconds["step"] = state.index + 1, 0
            yield state.index == len(temperatures)

    def results(self):
        points = self._state.points
        found = Results(list(points), seconds={"walk": 1.0})
        if sum("lambda_d" in point for point in points) > 1:
            found.transition = transition(*found.series("lambda_d"))
        return found


def replace_modules(setitem=dict.__setitem__, setattr=setattr):
    """Put this loop in place of the real one, with Python's setitem and setattr or a monkeypatch's."""
    setitem(sys.modules, "plaq.dca.loop.loop", types.SimpleNamespace(Loop=Loop))
    if os.environ.get("FAKE_FIGURES") == "no":
        setitem(sys.modules, "plaq.dca.results.sweep_report", types.SimpleNamespace(write_page=lambda base: base))
        no_figures.leave_out(setattr)


if __name__ == "__main__":
    replace_modules()
    from plaq.main import main

    main()
