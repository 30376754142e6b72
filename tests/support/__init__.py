"""What tests share: random robots, evaluation without a compiler, peers, compilers; fixtures are in conftest.py."""
