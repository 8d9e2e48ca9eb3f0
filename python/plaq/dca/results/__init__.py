"""Results of a run: their file, figures, report, export; of a sweep its tables and page."""
