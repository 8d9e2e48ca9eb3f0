"""Files that are written whole or not at all, and know when they are damaged."""
