"""Measure scores: metrics, intervals, calibration, thresholds, tables and plots.

All functions take lists or arrays of labels (1 valid, 0 invalid) and scores.
"""
