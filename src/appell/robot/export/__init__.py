"""Export of verbs: text of other languages, equations in symbols, a ROS 2 package."""
