"""Files that are written as a whole or not at all, and whose damage is detected."""
