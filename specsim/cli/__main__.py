"""python -m specsim.cli"""

from specsim.cli import main

main()
