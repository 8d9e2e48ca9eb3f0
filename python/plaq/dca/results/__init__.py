"""What a run gives: results and their file, figures, report, export; of a sweep its tables and page."""
