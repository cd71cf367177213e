"""Tests of the survey of a folder."""
