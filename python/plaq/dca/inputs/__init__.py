"""Table of the parameters of ``plaq dca``, and checks of an input."""
