"""Inputs of a run: tables of parameters, kinds of their values, the section ``[run]`` of every application."""
