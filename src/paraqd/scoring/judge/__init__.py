"""Judge pairs with learned models, which run on onnxruntime."""
