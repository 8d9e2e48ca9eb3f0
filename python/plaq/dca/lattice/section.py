"""The rows of [model] in the table of parameters."""

from plaq.dca.lattice.ready import READY
from plaq.dca.lattice.table_of_states import MOST_ROWS
from plaq.inputs.kinds import boolean, choice, either, integer, list_of, real, text
from plaq.inputs.schema import REQUIRED, Parameter
from plaq.inputs.table_kinds import by_name, displacements, label, matrix

MOST_ORBITALS = 16
MOST_DISPLACEMENTS = 2048

energy = real("[-1000, 1000]")
_matrix = matrix(energy, MOST_ORBITALS)
_hops = displacements(either(energy, _matrix), MOST_DISPLACEMENTS)
_vectors = list_of(list_of(integer(-64, 64), 1, longest=3), 1, longest=3)

ROWS = [
    Parameter("model", "lattice", choice(*READY), None, "",
              "a ready model: its orbitals, hopping and interaction between sites; unset: square, or the model that "
              "hopping or hopping_file describes"),
    Parameter("model", "t", energy, 1.0, "t",
              "nearest-neighbour hopping; where it is not 1, all energies have its unit"),
    Parameter("model", "t_prime", energy, 0.0, "t", "next-nearest-neighbour hopping; enters H as -t_prime"),
    Parameter("model", "amplitudes", by_name(energy, "their names in the ready model"), None, "t",
              "further amplitudes of the ready model, in place of its own values"),
    Parameter("model", "hopping", _hops, None, "t",
              "instead of t and t_prime: displacement (dx), (dx,dy) or (dx,dy,dz) and the amplitude that enters H with "
              "its sign. With orbitals a matrix [a][b], between orbital a of a cell and b of the cell at the "
              "displacement; \"0,0\" is the cell itself"),
    Parameter("model", "hopping_down", _hops, None, "t", "hopping of spin down where it differs from spin up"),
    Parameter("model", "hopping_file", text(), None, "",
              "instead of hopping: a file *_hr.dat of wannier90; hops are divided by the degeneracies, and the energy "
              "of an only orbital is left out"),
    Parameter("model", "hopping_cutoff", real("[0, 1000]"), None, "t",
              "displacements of hopping_file with no amplitude above this are left out; unset: none"),
    Parameter("model", "density_of_states", either(text(), list_of(list_of(real("[-1e9, 1e9]"), length=2),
                                                                   longest=MOST_ROWS)), None, "t",
              "instead of a band, for a cluster of one site: \"bethe\", the semicircle of half width 2t, or a file of "
              "energy and density, linear in between"),
    Parameter("model", "orbitals", list_of(label(), 1, longest=MOST_ORBITALS), None, "",
              "names of the orbitals of a cell; unset: their numbers"),
    Parameter("model", "positions", list_of(list_of(real("[-64, 64]"), 1, longest=3), 1, longest=MOST_ORBITALS), None,
              "a", "of the orbitals in the cell, in lattice vectors; orbitals at one position share an atom, on which "
              "U_prime, J and kanamori act. A component beyond the lattice's dimension only tells atoms apart"),
    Parameter("model", "energies", by_name(energy, "orbital"), None, "t", "energies of orbitals; others have 0"),
    Parameter("model", "U", either(energy, by_name(energy, "orbital")), REQUIRED, "t",
              "on-site repulsion, attraction where negative: of every orbital, or by orbital, and 0 for others"),
    Parameter("model", "U_prime", energy, None, "t",
              "repulsion of electrons of opposite spin in two orbitals of an atom, U_prime - J of equal spin; unset: "
              "U - 2J"),
    Parameter("model", "J", energy, None, "t", "Hund's coupling of orbitals of an atom"),
    Parameter("model", "kanamori", boolean(), None, "",
              "true: J also flips spins and lets pairs hop between orbitals; unset: density-density terms only"),
    Parameter("model", "V", displacements(either(energy, _matrix), MOST_DISPLACEMENTS), None, "t",
              "interaction V n n of the densities of two sites at a displacement, with orbitals a matrix [a][b] as "
              "that of hopping. A bond that a small cluster has several times counts once"),
    Parameter("model", "V_images", choice("once", "each"), None, "",
              "each: such a bond counts as often as the cluster has it; unset: once"),
    Parameter("model", "field", either(energy, by_name(energy, "orbital")), None, "t",
              "magnetic field h, -h (n_up - n_dn)/2, of every orbital or by orbital"),
    Parameter("model", "staggered_field", energy, None, "t",
              "field of alternating sign on a lattice of one orbital: the cell is doubled, orbitals A (+) and B (-)"),
    Parameter("model", "cluster", _vectors, [[2, 0], [0, 2]], "a",
              "the integer vectors of the cluster's periodicity, as many as the lattice has dimensions"),
]
