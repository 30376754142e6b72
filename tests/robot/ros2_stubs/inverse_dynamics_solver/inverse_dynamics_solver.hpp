#pragma once
#include <Eigen/Core>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>
#include <string>
#include <tuple>

namespace inverse_dynamics_solver
{
using Vector = Eigen::VectorXd;

class InverseDynamicsSolver
{
public:
  virtual ~InverseDynamicsSolver() = default;
  virtual void initialize(
    rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters = nullptr,
    const std::string & parameter_namespace = "", const std::string & robot_description = "") = 0;
  virtual std::tuple<Eigen::MatrixXd, Vector, Vector> getDynamicParameters(const Vector & q, const Vector & v) const
  {
    return {getInertiaMatrix(q), getCoriolisVector(q, v), getGravityVector(q)};
  }
  virtual Eigen::MatrixXd getInertiaMatrix(const Vector & q) const = 0;
  virtual Vector getCoriolisVector(const Vector & q, const Vector & v) const = 0;
  virtual Vector getGravityVector(const Vector & q) const = 0;
  virtual Vector getFrictionVector(const Vector & v) const = 0;
  virtual Vector getTorques(const Vector & q, const Vector & v, const Vector & a) const
  {
    return getInertiaMatrix(q) * a + getCoriolisVector(q, v) + getGravityVector(q);
  }

protected:
  InverseDynamicsSolver() = default;
};
}  // namespace inverse_dynamics_solver
