#pragma once
#include <rclcpp/exceptions/exceptions.hpp>

namespace inverse_dynamics_solver
{
using InvalidParameterValueException = rclcpp::exceptions::InvalidParameterValueException;

class UninitializedException : public std::runtime_error
{
public:
  UninitializedException() : std::runtime_error("not initialized") {}
};
}  // namespace inverse_dynamics_solver
