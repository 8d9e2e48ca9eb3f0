"""The commands of ``plaq pic`` as functions."""

from plaq.pic.application import Pic
from plaq.pic.inputs.parameters import Parameters
from plaq.pic.results.results import Results
from plaq.run.face import Face

face: Face[Parameters, Results] = Face(Pic)
run, load, check, estimate, sweep = face.run, face.load, face.check, face.estimate, face.sweep
report, digest = face.report, face.digest
