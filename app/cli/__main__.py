"""Run ``garden`` as ``python -m app.cli``."""

from app.cli.main import main

if __name__ == "__main__":
    main()
