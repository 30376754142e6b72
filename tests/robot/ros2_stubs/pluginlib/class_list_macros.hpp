#pragma once
// pluginlib registers a factory; here it is a function that the test loads.
#define PLUGINLIB_EXPORT_CLASS(Derived, Base) \
  Base * make_plugin() { return new Derived; }
