"""The commands of ``plaq dca`` as functions."""

from plaq.dca.application import Dca
from plaq.dca.parameters import Parameters
from plaq.dca.results.results import Results
from plaq.run.face import Face

face: Face[Parameters, Results] = Face(Dca)
run, load, check, estimate, sweep = face.run, face.load, face.check, face.estimate, face.sweep
report, digest = face.report, face.digest
