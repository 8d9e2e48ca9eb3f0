"""How a run of any application goes: its folder, what it says, when it stops, how it goes on."""
