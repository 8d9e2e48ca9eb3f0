"""What a run is asked to do: tables of parameters, the kinds of their values, what every run is asked."""
