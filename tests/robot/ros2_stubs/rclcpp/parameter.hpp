#pragma once
#include <string>
#include <vector>

namespace rclcpp
{
class Parameter
{
public:
  Parameter() = default;
  explicit Parameter(const std::vector<std::string> & values) : values_(values) {}
  std::vector<std::string> as_string_array() const { return values_; }

private:
  std::vector<std::string> values_;
};
}  // namespace rclcpp
