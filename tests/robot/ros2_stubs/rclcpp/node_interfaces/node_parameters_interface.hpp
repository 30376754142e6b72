#pragma once
#include <memory>
#include <string>

namespace rclcpp
{
class Parameter;

namespace node_interfaces
{
class NodeParametersInterface
{
public:
  using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>;
  virtual ~NodeParametersInterface() = default;
  virtual bool has_parameter(const std::string & name) const = 0;
  virtual bool get_parameter(const std::string & name, rclcpp::Parameter & parameter) const = 0;
};
}  // namespace node_interfaces
}  // namespace rclcpp
