"""`python -m specsim`: the command line, as `specsim` is."""

from specsim.cli import main

main()
