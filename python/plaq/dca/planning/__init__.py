"""What a run will need before it is started: cost, memory, time; and how far one has come."""
