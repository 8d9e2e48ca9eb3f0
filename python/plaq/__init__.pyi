from plaq import comm as comm
from plaq import dca as dca
from plaq import lqcd as lqcd
from plaq import pic as pic
from plaq import trace as trace
__version__: str
