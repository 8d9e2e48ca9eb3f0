"""Building blocks of commands, and the commands that do not belong to one application."""
