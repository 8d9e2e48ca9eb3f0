"""Diagnostics: probes, histograms, pictures, openPMD files and spectra."""
