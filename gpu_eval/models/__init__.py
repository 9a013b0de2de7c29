"""Published image models on the verified decoders: a file for each family, and a row in `gpu_eval.models.families`."""
