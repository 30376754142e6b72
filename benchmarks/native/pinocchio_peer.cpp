// Pinocchio's algorithms, compiled for this processor from the headers of the pip wheel: `benchmarks/native_peer.py`.
//
// A library has one verb, named by a macro such as verb_gravity, because each takes minutes to compile.
//
// Templates are instantiated here, none is taken from the wheel's libraries: those are built for any processor, and
// Eigen aligns its matrices otherwise there. The model therefore comes as numbers, not from a file.
#define BOOST_MPL_LIMIT_LIST_SIZE 30 // these four as Pinocchio's own targets have them
#define BOOST_MPL_LIMIT_VECTOR_SIZE 30
#define BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
#define BOOST_FUSION_INVOKE_MAX_ARITY 12

#include <chrono>
#include <memory>
#include <sstream>
#include <string>

#include <pinocchio/multibody.hpp>
#if defined verb_inverse_dynamics || defined verb_coriolis_matrix || defined verb_gravity || defined verb_bias
#include <pinocchio/algorithm/rnea.hpp>
#elif defined verb_forward_dynamics
#include <pinocchio/algorithm/aba.hpp>
#elif defined verb_mass_matrix
#include <pinocchio/algorithm/crba.hpp>
#elif defined verb_regressor
#include <pinocchio/algorithm/regressor.hpp>
#elif defined verb_inverse_dynamics_derivatives
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#elif defined verb_forward_dynamics_derivatives
#include <pinocchio/algorithm/aba-derivatives.hpp>
#endif

namespace pin = pinocchio;
using Vector = Eigen::Map<const Eigen::VectorXd>;
using Rows = Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// The joints of the robots that are measured: Pinocchio's own collection has 25, which takes far longer to compile.
template<typename Scalar_, int Options_>
struct Joints
{
    typedef Scalar_ Scalar;
    static constexpr int Options = Options_;
    typedef pin::JointModelCompositeTpl<Scalar, Options, Joints> JointModelComposite;
    typedef pin::JointModelMimicTpl<Scalar, Options, Joints> JointModelMimic;
    typedef pin::JointDataCompositeTpl<Scalar, Options, Joints> JointDataComposite;
    typedef pin::JointDataMimicTpl<Scalar, Options, Joints> JointDataMimic;
    typedef boost::variant<
        pin::JointModelRevoluteTpl<Scalar, Options, 0>, pin::JointModelRevoluteTpl<Scalar, Options, 1>,
        pin::JointModelRevoluteTpl<Scalar, Options, 2>, pin::JointModelFreeFlyerTpl<Scalar, Options>,
        pin::JointModelPrismaticTpl<Scalar, Options, 1>, pin::JointModelPrismaticUnalignedTpl<Scalar, Options>,
        boost::recursive_wrapper<JointModelComposite>, boost::recursive_wrapper<JointModelMimic>>
        JointModelVariant;
    typedef boost::variant<
        pin::JointDataRevoluteTpl<Scalar, Options, 0>, pin::JointDataRevoluteTpl<Scalar, Options, 1>,
        pin::JointDataRevoluteTpl<Scalar, Options, 2>, pin::JointDataFreeFlyerTpl<Scalar, Options>,
        pin::JointDataPrismaticTpl<Scalar, Options, 1>, pin::JointDataPrismaticUnalignedTpl<Scalar, Options>,
        boost::recursive_wrapper<JointDataComposite>, boost::recursive_wrapper<JointDataMimic>>
        JointDataVariant;
};
using Model = pin::ModelTpl<double, 0, Joints>;
using Data = pin::DataTpl<double, 0, Joints>;
using Joint = pin::JointModelTpl<double, 0, Joints>;

struct Robot
{
    Model model;
    std::unique_ptr<Data> data;
};

static Joint joint(const std::string &name, const Eigen::Vector3d &axis)
{
    if (name == "JointModelRX") return pin::JointModelRX();
    if (name == "JointModelRY") return pin::JointModelRY();
    if (name == "JointModelRZ") return pin::JointModelRZ();
    if (name == "JointModelPY") return pin::JointModelPY();
    if (name == "JointModelFreeFlyer") return pin::JointModelFreeFlyer();
    if (name == "JointModelPrismaticUnaligned") return pin::JointModelPrismaticUnaligned(axis);
    throw std::invalid_argument(name);
}

// One line per joint: parent, type, axis, placement (rotation row by row, position), mass, centre, inertia about it.
static Robot *read(const char *text)
{
    auto robot = std::make_unique<Robot>();
    std::istringstream lines(text);
    std::size_t parent;
    std::string name;
    while (lines >> parent >> name) {
        double x[25];
        for (double &number : x) lines >> number;
        const Eigen::Vector3d axis(x[0], x[1], x[2]), position(x[12], x[13], x[14]), centre(x[16], x[17], x[18]);
        Eigen::Matrix3d turn, inertia;
        turn << x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11];
        inertia << x[19], x[20], x[21], x[20], x[22], x[23], x[21], x[23], x[24];
        const auto j = robot->model.addJoint(
            parent, joint(name, axis), pin::SE3(turn, position), "j" + std::to_string(robot->model.njoints));
        robot->model.appendBodyToJoint(j, pin::Inertia(x[15], centre, inertia), pin::SE3::Identity());
    }
    robot->data = std::make_unique<Data>(robot->model);
    return robot.release();
}

// Runs the verb that this library is compiled for; where there is a place for them, writes its results row by row.
static void run(Robot &robot, const Vector &q, const Vector &v, const Vector &a, double *out)
{
    const Model &model = robot.model;
    Data &data = *robot.data;
    const auto write = [&out](const auto &matrix) {
        if (out) {
            Rows(out, matrix.rows(), matrix.cols()) = matrix;
            out += matrix.size();
        }
    };
    const auto symmetric = [&write, out](const auto &matrix) {
        if (out) write(Eigen::MatrixXd(matrix.template selfadjointView<Eigen::Upper>()));
    };
#if defined verb_inverse_dynamics
    pin::rnea(model, data, q, v, a);
    write(data.tau);
#elif defined verb_forward_dynamics
    pin::aba(model, data, q, v, a, pin::Convention::WORLD);
    write(data.ddq);
#elif defined verb_mass_matrix
    pin::crba(model, data, q, pin::Convention::WORLD);
    symmetric(data.M);
#elif defined verb_coriolis_matrix
    pin::computeCoriolisMatrix(model, data, q, v);
    write(data.C);
#elif defined verb_gravity
    pin::computeGeneralizedGravity(model, data, q);
    write(data.g);
#elif defined verb_bias
    pin::nonLinearEffects(model, data, q, v);
    write(data.nle);
#elif defined verb_regressor
    pin::computeJointTorqueRegressor(model, data, q, v, a);
    write(data.jointTorqueRegressor);
#elif defined verb_inverse_dynamics_derivatives
    pin::computeRNEADerivatives(model, data, q, v, a);
    write(data.dtau_dq);
    write(data.dtau_dv);
    symmetric(data.M);
#elif defined verb_forward_dynamics_derivatives
    pin::computeABADerivatives(model, data, q, v, a);
    write(data.ddq_dq);
    write(data.ddq_dv);
    symmetric(data.Minv);
#endif
}

extern "C" {
__attribute__((visibility("default"))) void *load(const char *text)
{
    try {
        return read(text);
    } catch (const std::exception &) {
        return nullptr;
    }
}

// Runs the verb on n samples; returns the seconds that it took.
__attribute__((visibility("default"))) double
timed(void *made, long n, const double *q, const double *v, const double *a, double *out, long size)
{
    Robot &robot = *static_cast<Robot *>(made);
    const Eigen::Index nq = robot.model.nq, nv = robot.model.nv;
    const auto start = std::chrono::steady_clock::now();
    for (long i = 0; i < n; i++)
        run(robot, Vector(q + i * nq, nq), Vector(v + i * nv, nv), Vector(a + i * nv, nv),
            out ? out + i * size : nullptr);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}
}
