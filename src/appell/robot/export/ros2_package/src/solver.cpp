// Dynamics of robot '$robot' as a plugin of inverse_dynamics_solver, written by appell.
//
// dynamics.c has the equations of this robot alone: no URDF is parsed, and parameters of the robot cannot be changed.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <inverse_dynamics_solver/exceptions.hpp>
#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>
#include <pluginlib/class_list_macros.hpp>
#include <rclcpp/parameter.hpp>

#include "dynamics.h"

namespace $package
{

constexpr int kJoints = $n;
using Values = std::array<double, kJoints>;

const std::array<const char *, kJoints> kNames = {$names};
constexpr Values kDamping = {$damping};    // [N m s/rad], or [N s/m]
constexpr Values kFriction = {$friction};  // Coulomb friction [N m], or [N]

class Solver : public inverse_dynamics_solver::InverseDynamicsSolver
{
public:
  // Read the parameter `joints`, the order of the caller's vectors. A robot description, where one is given, is checked
  // for the names of the joints and not used otherwise.
  void initialize(
    rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr parameters,
    const std::string & parameter_namespace, const std::string & robot_description) override
  {
    for (const char * name : kNames) {
      if (!robot_description.empty() && !has_name(robot_description, name)) {
        throw inverse_dynamics_solver::InvalidParameterValueException(
          std::string("$package: the robot description has no joint '") + name + "'; export the plugin from it");
      }
    }
    for (int i = 0; i < kJoints; ++i) {
      place_[i] = i;
    }
    const std::string joints = (parameter_namespace.empty() ? "" : parameter_namespace + ".") + "joints";
    if (parameters && parameters->has_parameter(joints)) {
      rclcpp::Parameter value;
      parameters->get_parameter(joints, value);
      reorder(value.as_string_array());
    }
    is_initialized_ = true;
  }

  Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd & joint_positions) const override
  {
    const Values q = taken(joint_positions, "joint_positions");
    std::array<double, kJoints * kJoints> m;
    ${prefix}_mass_matrix(q.data(), m.data());
    Eigen::MatrixXd result(kJoints, kJoints);
    for (int i = 0; i < kJoints; ++i) {
      for (int j = 0; j < kJoints; ++j) {
        result(place_[i], place_[j]) = m[kJoints * i + j];
      }
    }
    return result;
  }

  Eigen::VectorXd getCoriolisVector(
    const Eigen::VectorXd & joint_positions, const Eigen::VectorXd & joint_velocities) const override
  {
    const Values q = taken(joint_positions, "joint_positions");
    const Values v = taken(joint_velocities, "joint_velocities");
    Values both, weight;
    ${prefix}_bias(q.data(), v.data(), both.data());
    ${prefix}_gravity(q.data(), weight.data());
    for (int i = 0; i < kJoints; ++i) {
      both[i] -= weight[i];
    }
    return given(both);
  }

  Eigen::VectorXd getGravityVector(const Eigen::VectorXd & joint_positions) const override
  {
    const Values q = taken(joint_positions, "joint_positions");
    Values tau;
    ${prefix}_gravity(q.data(), tau.data());
    return given(tau);
  }

  Eigen::VectorXd getFrictionVector(const Eigen::VectorXd & joint_velocities) const override
  {
    const Values v = taken(joint_velocities, "joint_velocities");
    Values tau;
    for (int i = 0; i < kJoints; ++i) {
      const double sign = v[i] > 0.0 ? 1.0 : (v[i] < 0.0 ? -1.0 : 0.0);
      tau[i] = kDamping[i] * v[i] + kFriction[i] * sign;
    }
    return given(tau);
  }

  // Without friction, as the interface has it: add getFrictionVector for the torques of the motors.
  Eigen::VectorXd getTorques(
    const Eigen::VectorXd & joint_positions, const Eigen::VectorXd & joint_velocities,
    const Eigen::VectorXd & joint_accelerations) const override
  {
    const Values q = taken(joint_positions, "joint_positions");
    const Values v = taken(joint_velocities, "joint_velocities");
    const Values a = taken(joint_accelerations, "joint_accelerations");
    Values tau;
    ${prefix}_inverse_dynamics(q.data(), v.data(), a.data(), tau.data());
    return given(tau);
  }

private:
  static bool has_name(const std::string & text, const std::string & name)
  {
    if (name.find_first_of("&<>\"'") != std::string::npos) {
      return true;  // XML has several spellings of these characters
    }
    return text.find('"' + name + '"') != std::string::npos || text.find("'" + name + "'") != std::string::npos;
  }

  void reorder(const std::vector<std::string> & names)
  {
    bool is_valid = names.size() == kNames.size();
    for (int i = 0; is_valid && i < kJoints; ++i) {
      const auto found = std::find(names.begin(), names.end(), kNames[i]);
      is_valid = found != names.end();
      place_[i] = static_cast<int>(found - names.begin());
    }
    if (!is_valid) {
      std::string expected;
      for (const char * name : kNames) {
        expected += std::string(expected.empty() ? "" : ", ") + name;
      }
      throw inverse_dynamics_solver::InvalidParameterValueException(
        "$package: parameter 'joints': expected these joints in any order: " + expected);
    }
  }

  // Return a vector of the caller in the robot's order.
  Values taken(const Eigen::VectorXd & vector, const char * name) const
  {
    if (!is_initialized_) {
      throw inverse_dynamics_solver::UninitializedException();
    }
    if (vector.size() != kJoints) {
      throw std::invalid_argument(
        std::string("$package: ") + name + ": expected $n numbers, got " + std::to_string(vector.size()));
    }
    Values values;
    for (int i = 0; i < kJoints; ++i) {
      values[i] = vector[place_[i]];
    }
    return values;
  }

  // Return values in the robot's order as a vector of the caller.
  Eigen::VectorXd given(const Values & values) const
  {
    Eigen::VectorXd vector(kJoints);
    for (int i = 0; i < kJoints; ++i) {
      vector[place_[i]] = values[i];
    }
    return vector;
  }

  std::array<int, kJoints> place_{};
  bool is_initialized_ = false;
};

}  // namespace $package

PLUGINLIB_EXPORT_CLASS($package::Solver, inverse_dynamics_solver::InverseDynamicsSolver)
