"""Actions of hybrid Monte Carlo and their integration."""
