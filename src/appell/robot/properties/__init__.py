"""Properties of a robot beside its verbs: records of joints and links, configurations, base columns, a summary."""
