"""Image models on torch, the only package that imports it. specsim never imports gpu_eval."""
