"""`specsim report`: every system in one table, exact verdicts beside pictures of a real model."""
