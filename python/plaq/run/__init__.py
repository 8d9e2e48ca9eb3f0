"""Driver of a run of any application: its folder, its log, early stops, resuming."""
