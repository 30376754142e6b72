/* Model-predictive control of the PUMA 560 at 1 kHz under torque limits, on the exported step and its derivatives.
 *
 *     python examples/10_mpc.py        writes arm.c and arm.h, compiles this file with them, runs it and plots the motion
 *
 * Every millisecond, one Gauss-Newton iteration of the control problem over the next HORIZON steps of DT: roll the last
 * torques out from the measured state (arm_step), linearise along them (arm_step_derivatives), solve the linear
 * quadratic problem backwards (Riccati), and roll out forwards with its gains, torques clamped to their limits. A torque
 * that is at its limit and is pushed beyond it takes no part in the backward pass (projected Newton). What the model
 * lacks is estimated as a torque per joint from the last millisecond (arm_inverse_dynamics) and added to the torques.
 * All memory is static and every iteration has the same operations.
 *
 * The robot behind it is simulated by arm_step_rk4 with a load that the model knows nothing of.
 */
#define _POSIX_C_SOURCE 200112L
#include "arm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N ARM_NV
#define X (2 * N)
#define HORIZON 20
#define PERIOD 1e-3 /* of control [s] */

static const double DT[1] = {0.01}; /* of the prediction [s] */
static const double limit[N] = {97.0, 186.0, 89.0, 24.0, 20.0, 21.0};
static const double weight[3] = {2e3, 2.0, 1e-3}; /* of squared positions, velocities and torques */
static const double last = 10.0;                  /* times the weights of the state, at the horizon */

static double state[HORIZON + 1][X], torque[HORIZON][N], extra[N];
static double A[HORIZON][X * X], B[HORIZON][X * N], feed[HORIZON][N], gain[HORIZON][N][X];

static void predict(const double x[X], const double tau[N], double next[X])
{
    double acting[N];
    for (int i = 0; i < N; i++)
        acting[i] = tau[i] + extra[i];
    arm_step(x, x + N, acting, DT, next, next + N);
}

/* W = L L^T in place, and the solution of W y = b in place. */
static void factor(double W[N][N])
{
    for (int j = 0; j < N; j++)
        for (int i = j; i < N; i++) {
            double s = W[i][j];
            for (int k = 0; k < j; k++)
                s -= W[i][k] * W[j][k];
            W[i][j] = i == j ? sqrt(s) : s / W[j][j];
        }
}

static void solve(double L[N][N], double b[N])
{
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < i; k++)
            b[i] -= L[i][k] * b[k];
        b[i] /= L[i][i];
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int k = i + 1; k < N; k++)
            b[i] -= L[k][i] * b[k];
        b[i] /= L[i][i];
    }
}

/* One stage: the value V, its slope and the gains, from those of the stage after. */
static void backward(int t, const double goal[X], const double rest[N], double slope[X], double V[X][X])
{
    double VA[X][X], VB[X][N], Qx[X], Qxx[X][X], Qu[N], Quu[N][N], Qux[N][X];
    for (int i = 0; i < X; i++) {
        for (int j = 0; j < X; j++) {
            double s = 0.0;
            for (int k = 0; k < X; k++)
                s += V[i][k] * A[t][X * k + j];
            VA[i][j] = s;
        }
        for (int j = 0; j < N; j++) {
            double s = 0.0;
            for (int k = 0; k < X; k++)
                s += V[i][k] * B[t][N * k + j];
            VB[i][j] = s;
        }
    }
    for (int i = 0; i < X; i++) {
        const double w = weight[i >= N];
        Qx[i] = w * (state[t][i] - goal[i]);
        for (int k = 0; k < X; k++)
            Qx[i] += A[t][X * k + i] * slope[k];
        for (int j = 0; j < X; j++) {
            double s = i == j ? w : 0.0;
            for (int k = 0; k < X; k++)
                s += A[t][X * k + i] * VA[k][j];
            Qxx[i][j] = s;
        }
    }
    for (int i = 0; i < N; i++) {
        Qu[i] = weight[2] * (torque[t][i] - rest[i]);
        for (int k = 0; k < X; k++)
            Qu[i] += B[t][N * k + i] * slope[k];
        for (int j = 0; j < X; j++) {
            double s = 0.0;
            for (int k = 0; k < X; k++)
                s += B[t][N * k + i] * VA[k][j];
            Qux[i][j] = s;
        }
        for (int j = 0; j < N; j++) {
            double s = i == j ? weight[2] : 0.0;
            for (int k = 0; k < X; k++)
                s += B[t][N * k + i] * VB[k][j];
            Quu[i][j] = s;
        }
    }
    for (int i = 0; i < N; i++)
        if ((torque[t][i] >= limit[i] && Qu[i] < 0.0) || (torque[t][i] <= -limit[i] && Qu[i] > 0.0)) {
            Qu[i] = 0.0;
            for (int j = 0; j < X; j++)
                Qux[i][j] = 0.0;
            for (int j = 0; j < N; j++)
                Quu[i][j] = Quu[j][i] = i == j ? 1.0 : 0.0;
        }
    factor(Quu);
    for (int i = 0; i < N; i++)
        feed[t][i] = -Qu[i];
    solve(Quu, feed[t]);
    for (int j = 0; j < X; j++) {
        double column[N];
        for (int i = 0; i < N; i++)
            column[i] = -Qux[i][j];
        solve(Quu, column);
        for (int i = 0; i < N; i++)
            gain[t][i][j] = column[i];
    }
    for (int i = 0; i < X; i++) {
        slope[i] = Qx[i];
        for (int k = 0; k < N; k++)
            slope[i] += Qux[k][i] * feed[t][k];
        for (int j = 0; j < X; j++) {
            double s = Qxx[i][j];
            for (int k = 0; k < N; k++)
                s += Qux[k][i] * gain[t][k][j];
            V[i][j] = s;
        }
    }
}

/* The torques of this millisecond, in torque[0]. */
static void control(const double x[X], const double goal[X])
{
    double slope[X], V[X][X] = {{0.0}}, rest[N], now[X], next[X];
    arm_gravity(goal, rest);
    for (int i = 0; i < N; i++)
        rest[i] -= extra[i];
    for (int i = 0; i < X; i++)
        state[0][i] = x[i];
    for (int t = 0; t < HORIZON; t++) {
        double acting[N];
        for (int i = 0; i < N; i++)
            acting[i] = torque[t][i] + extra[i];
        arm_step_derivatives(state[t], state[t] + N, acting, DT, A[t], B[t]);
        predict(state[t], torque[t], state[t + 1]);
    }
    for (int i = 0; i < X; i++) {
        V[i][i] = last * weight[i >= N];
        slope[i] = V[i][i] * (state[HORIZON][i] - goal[i]);
    }
    for (int t = HORIZON - 1; t >= 0; t--)
        backward(t, goal, rest, slope, V);
    for (int i = 0; i < X; i++)
        now[i] = x[i];
    for (int t = 0; t < HORIZON; t++) {
        for (int i = 0; i < N; i++) {
            double tau = torque[t][i] + feed[t][i];
            for (int j = 0; j < X; j++)
                tau += gain[t][i][j] * (now[j] - state[t][j]);
            torque[t][i] = fmax(-limit[i], fmin(limit[i], tau));
        }
        predict(now, torque[t], next);
        for (int i = 0; i < X; i++)
            now[i] = next[i];
    }
}

/* Torques that the model lacks, from the motion of the last millisecond. */
static void observe(const double before[X], const double x[X], const double applied[N])
{
    double a[N], needed[N];
    for (int i = 0; i < N; i++)
        a[i] = (x[N + i] - before[N + i]) / PERIOD;
    arm_inverse_dynamics(before, before + N, a, needed);
    for (int i = 0; i < N; i++)
        extra[i] += 0.02 * (needed[i] - applied[i] - extra[i]);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    enum { STEPS = 2000 };
    static const double goals[2][X] = {{1.0, 0.8, -0.7, 0.6, -0.5, 0.9}, {-0.6, 1.4, -1.6, -0.4, 0.7, -0.5}};
    static const double load[N] = {0.0, 8.0, 3.0, 0.0, 0.5, 0.0}; /* [N m] */
    static const double tick[1] = {PERIOD};
    static double micros[STEPS];
    double x[X] = {0.0, 1.5, -1.5}, before[X], acting[N];
    FILE *log = fopen("mpc.csv", "w");
    if (log == NULL)
        return 1;
    arm_gravity(x, torque[0]);
    for (int t = 1; t < HORIZON; t++)
        for (int i = 0; i < N; i++)
            torque[t][i] = torque[0][i];
    for (int step = 0; step < STEPS; step++) {
        const double *goal = goals[step >= STEPS / 2];
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        if (step)
            observe(before, x, torque[0]);
        control(x, goal);
        clock_gettime(CLOCK_MONOTONIC, &to);
        micros[step] = 1e6 * (double)(to.tv_sec - from.tv_sec) + 1e-3 * (double)(to.tv_nsec - from.tv_nsec);
        fprintf(log, "%.3f", PERIOD * step);
        for (int i = 0; i < N; i++)
            fprintf(log, ",%.9g,%.9g,%.9g", x[i], goal[i], torque[0][i] / limit[i]);
        fputc('\n', log);
        for (int i = 0; i < X; i++)
            before[i] = x[i];
        for (int i = 0; i < N; i++)
            acting[i] = torque[0][i] - load[i];
        arm_step_rk4(before, before + N, acting, tick, x, x + N);
        if (step == STEPS / 2 - 1 || step == STEPS - 1) {
            double worst = 0.0;
            for (int i = 0; i < N; i++)
                worst = fmax(worst, fabs(x[i] - goal[i]));
            printf("%.1f s: %.1e rad from the goal\n", PERIOD * (step + 1), worst);
        }
    }
    fclose(log);
    qsort(micros, STEPS, sizeof micros[0], by_size);
    printf("a control step takes %.0f us (median), %.0f us (99 %%), %.0f us (longest) of %.0f us\n", micros[STEPS / 2],
           micros[STEPS * 99 / 100], micros[STEPS - 1], 1e6 * PERIOD);
    return 0;
}
