"""How good scores are: metrics, intervals, calibration, thresholds, tables and plots.

Everything here works on plain lists and arrays of labels (1 valid, 0 invalid) and scores.
"""
