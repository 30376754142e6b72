"""Motion in time: integration, located events, walls, impacts, rollouts."""
