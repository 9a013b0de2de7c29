"""specsim check-model: what the wrapper of a model must guarantee, tested on the model itself."""
