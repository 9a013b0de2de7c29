"""The ledger: all theorems run side by side, shown on the terminal, as pages and in the README."""
