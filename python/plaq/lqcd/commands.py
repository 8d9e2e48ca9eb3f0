"""The commands of ``plaq lqcd`` as functions."""

from plaq.lqcd.application import Lqcd
from plaq.lqcd.parameters import Parameters
from plaq.lqcd.results import Results
from plaq.run.face import Face

face: Face[Parameters, Results] = Face(Lqcd)
run, load, check, estimate, sweep = face.run, face.load, face.check, face.estimate, face.sweep
report, digest = face.report, face.digest
