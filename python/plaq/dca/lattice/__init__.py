"""The lattice, the cluster that stands for it, their momenta and frequencies, and what averages over them."""
