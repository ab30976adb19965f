"""Learned judges, which run on onnxruntime."""
