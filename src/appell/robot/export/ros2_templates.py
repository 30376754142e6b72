"""The texts of a ROS 2 package, with ``$name`` where the robot's own values go."""

from __future__ import annotations

PACKAGE = """\
<?xml version="1.0"?>
<?xml-model href="http://download.ros.org/schema/package_format3.xsd" schematypens="http://www.w3.org/2001/XMLSchema"?>
<package format="3">
  <name>$package</name>
  <version>0.1.0</version>
  <description>Dynamics of robot '$robot' as a plugin of inverse_dynamics_solver, written by appell.</description>
  <maintainer email="maintainer@example.com">maintainer</maintainer>
  <license>See the source of the robot's description</license>

  <buildtool_depend>ament_cmake</buildtool_depend>

  <depend>eigen</depend>
  <depend>inverse_dynamics_solver</depend>
  <depend>pluginlib</depend>
  <depend>rclcpp</depend>

  <export>
    <build_type>ament_cmake</build_type>
  </export>
</package>
"""

CMAKE = """\
cmake_minimum_required(VERSION 3.13)
project($package LANGUAGES C CXX)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_package(ament_cmake REQUIRED)
find_package(Eigen3 REQUIRED)
find_package(inverse_dynamics_solver REQUIRED)
find_package(pluginlib REQUIRED)
find_package(rclcpp REQUIRED)

add_library($${PROJECT_NAME} SHARED src/solver.cpp src/dynamics.c)
target_compile_features($${PROJECT_NAME} PRIVATE c_std_99 cxx_std_17)
target_compile_options($${PROJECT_NAME} PRIVATE -Wall -Wextra -Wpedantic)
target_include_directories($${PROJECT_NAME} PRIVATE src $${inverse_dynamics_solver_INCLUDE_DIRS})
target_link_libraries($${PROJECT_NAME} PRIVATE Eigen3::Eigen pluginlib::pluginlib rclcpp::rclcpp)

pluginlib_export_plugin_description_file(inverse_dynamics_solver plugin.xml)

install(TARGETS $${PROJECT_NAME} ARCHIVE DESTINATION lib LIBRARY DESTINATION lib RUNTIME DESTINATION bin)
install(DIRECTORY config DESTINATION share/$${PROJECT_NAME})

ament_package()
"""

PLUGIN = """\
<library path="$package">
  <class name="$package/Solver" type="$package::Solver"
         base_class_type="inverse_dynamics_solver::InverseDynamicsSolver">
    <description>Dynamics of robot '$robot' as compiled C, written by appell.</description>
  </class>
</library>
"""

PARAMETERS = """\
# Parameters of the plugin, below the namespace that the controller passes to initialize().
/**:
  ros__parameters:
    dynamics_solver:
      # The order of the joints in all vectors and matrices. Leave it out for the order of the robot's file, as below.
      joints: [$joints]
"""

SOLVER = r"""// Dynamics of robot '$robot' as a plugin of inverse_dynamics_solver, written by appell.
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
"""

README = """\
# $package

The dynamics of robot $robot as a plugin of
[inverse_dynamics_solver](https://github.com/unisa-acg/inverse-dynamics-solver), the pluginlib interface that
model-based controllers of ros2_control load. Written by appell from the robot's description; the equations are in
`src/dynamics.c`, compiled for this robot alone.

## Build

```sh
sudo apt install ros-$$ROS_DISTRO-inverse-dynamics-solver
cp -r $package ~/ros2_ws/src
cd ~/ros2_ws && colcon build --packages-select $package
```

appell compiles and tests the plugin against stub headers of rclcpp, pluginlib and inverse_dynamics_solver, not against
a ROS 2 installation. Fill in maintainer and license in `package.xml`.

## Use

Name the plugin in the parameters of the controller:

```yaml
dynamics_solver:
  dynamics_solver_plugin: $package/Solver
```

or load it in C++:

```cpp
pluginlib::ClassLoader<inverse_dynamics_solver::InverseDynamicsSolver> loader(
  "inverse_dynamics_solver", "inverse_dynamics_solver::InverseDynamicsSolver");
auto solver = loader.createSharedInstance("$package/Solver");
solver->initialize(node->get_node_parameters_interface(), "dynamics_solver", robot_description);
Eigen::VectorXd tau = solver->getTorques(q, v, a) + solver->getFrictionVector(v);
```

| method | value |
|---|---|
| `getInertiaMatrix(q)` | M(q), rotor inertias included |
| `getCoriolisVector(q, v)` | C(q, v) v |
| `getGravityVector(q)` | gravity and joint springs |
| `getFrictionVector(v)` | viscous and Coulomb friction |
| `getTorques(q, v, a)` | M(q) a + C(q, v) v + g(q), without friction, in one pass |

`q`, `v` and `a` are in SI units and radians, in the order

$joint_list

or in that of the parameter `joints` in the namespace given to `initialize`; see `config/solver.yaml`. A robot
description given to `initialize` must have joints of these names; the solver does not use it otherwise.
"""
