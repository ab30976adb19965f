"""Evaluate scores with metrics, intervals, calibration, thresholds, tables and plots.

Labels (1 valid, 0 invalid) and scores can be passed as lists or as arrays.
"""
