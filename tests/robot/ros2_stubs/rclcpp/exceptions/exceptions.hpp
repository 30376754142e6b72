#pragma once
#include <stdexcept>

namespace rclcpp
{
namespace exceptions
{
class InvalidParameterValueException : public std::runtime_error
{
  using std::runtime_error::runtime_error;
};
}  // namespace exceptions
}  // namespace rclcpp
