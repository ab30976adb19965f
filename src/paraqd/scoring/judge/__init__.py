"""Judge pairs with learned models that run on onnxruntime."""
