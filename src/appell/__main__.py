"""``python -m appell``: the command ``appell``."""

from appell.cli import main

if __name__ == "__main__":
    main()
