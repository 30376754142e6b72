// Calls the plugin from Python: methods by number, errors as text.
#include <cstdio>
#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>
#include <rclcpp/parameter.hpp>
#include <sstream>

using Solver = inverse_dynamics_solver::InverseDynamicsSolver;
using Vector = Eigen::VectorXd;

Solver * make_plugin();

class Parameters : public rclcpp::node_interfaces::NodeParametersInterface
{
public:
  explicit Parameters(const char * text)
  {
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      joints.push_back(word);
    }
  }
  bool has_parameter(const std::string & name) const override { return name == "dynamics.joints" && !joints.empty(); }
  bool get_parameter(const std::string & name, rclcpp::Parameter & parameter) const override
  {
    parameter = rclcpp::Parameter(joints);
    return has_parameter(name);
  }

private:
  std::vector<std::string> joints;
};

extern "C" Solver * make() { return make_plugin(); }

extern "C" void destroy(Solver * solver) { delete solver; }

extern "C" int initialize(Solver * solver, const char * joints, const char * description, char * error, int size)
{
  try {
    solver->initialize(std::make_shared<Parameters>(joints), "dynamics", description);
    return 0;
  } catch (const std::exception & failure) {
    std::snprintf(error, static_cast<std::size_t>(size), "%s", failure.what());
    return 1;
  }
}

extern "C" int call(
  const Solver * solver, int method, int n, const double * position, const double * velocity,
  const double * acceleration, double * result, char * error, int size)
{
  const Vector q = Eigen::Map<const Vector>(position, n), v = Eigen::Map<const Vector>(velocity, n),
               a = Eigen::Map<const Vector>(acceleration, n);
  try {
    Eigen::MatrixXd found;
    switch (method) {
      case 0: found = solver->getTorques(q, v, a); break;
      case 1: found = solver->getInertiaMatrix(q); break;
      case 2: found = solver->getCoriolisVector(q, v); break;
      case 3: found = solver->getGravityVector(q); break;
      case 4: found = solver->getFrictionVector(v); break;
      default: found = std::get<0>(solver->getDynamicParameters(q, v)) * a;
    }
    Eigen::Map<Eigen::MatrixXd>(result, found.rows(), found.cols()) = found;
    return 0;
  } catch (const std::exception & failure) {
    std::snprintf(error, static_cast<std::size_t>(size), "%s", failure.what());
    return 1;
  }
}
