"""Laws of real models and data as table models: `specsim tabulate`."""
