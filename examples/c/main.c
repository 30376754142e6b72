/* A computed-torque controller with integral action at 1 kHz: the exported law of the PUMA 560.
 *
 *     appell export puma560 --controller tracking --frequency 20 --integral 8 --limit 97,186,89,24,20,21 -o control.c
 *     appell export puma560 --verb forward_dynamics -o puma560.c
 *     cc -std=c99 -O2 main.c control.c puma560.c -o main -lm && ./main 1.5
 *
 * The robot behind it is simulated here by the exported forward dynamics, with a load on three joints that the law knows
 * nothing of; on a real one, read_joints and write_torques talk to the drives. Every millisecond: read q and v, ask the
 * trajectory where they should be, let the law turn that into torques, write them. The last line tells how far the robot
 * is from the goal and how long a step took.
 */
#define _POSIX_C_SOURCE 200112L
#include "control.h"
#include "puma560.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD 1000000L /* [ns] */
#define DURATION 1.0    /* of the motion [s] */

static const double start[PUMA560_NQ] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
static const double goal[PUMA560_NQ] = {0.5, -0.4, 0.3, 0.6, -0.5, 0.2};
static const double load[PUMA560_NV] = {0.0, 8.0, 3.0, 0.0, 0.5, 0.0}; /* [N m] */

static struct {
    double q[PUMA560_NQ], v[PUMA560_NV];
} plant;

static void read_joints(double q[PUMA560_NQ], double v[PUMA560_NV])
{
    for (int i = 0; i < PUMA560_NV; i++) {
        q[i] = plant.q[i];
        v[i] = plant.v[i];
    }
}

static void write_torques(const double tau[PUMA560_NV])
{
    double a[PUMA560_NV], acting[PUMA560_NV];
    for (int i = 0; i < PUMA560_NV; i++)
        acting[i] = tau[i] - load[i];
    puma560_forward_dynamics(plant.q, plant.v, acting, a);
    for (int i = 0; i < PUMA560_NV; i++) {
        plant.v[i] += a[i] * 1e-9 * (double)PERIOD;
        plant.q[i] += plant.v[i] * 1e-9 * (double)PERIOD;
    }
}

/* From start to goal and from rest to rest: s = 10 x^3 - 15 x^4 + 6 x^5 of x = t / DURATION. */
static void trajectory(double t, double q[PUMA560_NQ], double v[PUMA560_NV], double a[PUMA560_NV])
{
    const double x = t < DURATION ? t / DURATION : 1.0;
    const double s = x * x * x * (10.0 + x * (6.0 * x - 15.0));
    const double rate = 30.0 * x * x * (1.0 - x) * (1.0 - x) / DURATION;
    const double second = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (DURATION * DURATION);
    for (int i = 0; i < PUMA560_NV; i++) {
        q[i] = start[i] + s * (goal[i] - start[i]);
        v[i] = rate * (goal[i] - start[i]);
        a[i] = second * (goal[i] - start[i]);
    }
}

static long nanoseconds(struct timespec from, struct timespec to)
{
    return (long)(to.tv_sec - from.tv_sec) * 1000000000L + (to.tv_nsec - from.tv_nsec);
}

int main(int argc, char **argv)
{
    const long steps = (long)(1000.0 * (argc > 1 ? atof(argv[1]) : 1.5));
    double memory[PUMA560_NM] = {0.0}; /* all that the law remembers */
    struct timespec next, before, after;
    long longest = 0, late = 0;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long step = 0; step < steps; step++) {
        double q[PUMA560_NQ], v[PUMA560_NV], goal_q[PUMA560_NQ], goal_v[PUMA560_NV], goal_a[PUMA560_NV];
        double tau[PUMA560_NV];
        const double dt = step ? 1e-9 * (double)PERIOD : 0.0;
        clock_gettime(CLOCK_MONOTONIC, &before);
        read_joints(q, v);
        trajectory(1e-9 * (double)PERIOD * (double)step, goal_q, goal_v, goal_a);
        puma560_tracking_with_integral(q, v, goal_q, goal_v, goal_a, dt, memory, tau, memory);
        clock_gettime(CLOCK_MONOTONIC, &after);
        write_torques(tau);
        const long spent = nanoseconds(before, after);
        longest = spent > longest ? spent : longest;
        late += nanoseconds(next, after) > PERIOD;

        next.tv_nsec += PERIOD;
        if (next.tv_nsec >= 1000000000L) {
            next.tv_nsec -= 1000000000L;
            next.tv_sec++;
        }
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
            ; /* a signal: sleep on */
    }
    double error = 0.0;
    for (int i = 0; i < PUMA560_NV; i++)
        error = fmax(error, fabs(goal[i] - plant.q[i]));
    printf("%ld steps, %.1e rad from the goal, longest step %ld ns, %ld late\n", steps, error, longest, late);
    return error < 1e-2 ? EXIT_SUCCESS : EXIT_FAILURE;
}
