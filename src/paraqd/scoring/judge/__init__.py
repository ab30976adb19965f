"""Learned judges on onnxruntime."""
