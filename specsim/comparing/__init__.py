"""`specsim compare`: rules brought to the same cost, and what each of them does to the output there."""
