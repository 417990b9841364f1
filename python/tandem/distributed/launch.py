"""python -m tandem.distributed.launch: the older name of tandem.distributed.run."""

import sys

from tandem.distributed.run import main

if __name__ == "__main__":
    sys.exit(main())
