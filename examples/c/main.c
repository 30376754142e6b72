/* A computed-torque controller at 1 kHz around the exported dynamics of the PUMA 560.
 *
 *     appell export puma560 --verb inverse_dynamics --verb forward_dynamics --out puma560.c
 *     cc -std=c99 -O2 main.c puma560.c -o main -lm && ./main 0.5
 *
 * The robot behind it is simulated here by the exported forward dynamics; on a real one, read_joints and write_torques
 * talk to the drives. Every millisecond: read q and v, ask for a = kp (goal - q) - kd v, let inverse dynamics turn that
 * into torques, write them. The last lines tell where the robot is and how long a step took.
 */
#define _POSIX_C_SOURCE 200112L
#include "puma560.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PERIOD 1000000L /* [ns] */

static const double kp = 400.0, kd = 40.0; /* 20 rad/s, critically damped */
static const double goal[PUMA560_NV] = {0.5, -0.4, 0.3, 0.6, -0.5, 0.2};

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
    double a[PUMA560_NV];
    puma560_forward_dynamics(plant.q, plant.v, tau, a);
    for (int i = 0; i < PUMA560_NV; i++) {
        plant.v[i] += a[i] * 1e-9 * (double)PERIOD;
        plant.q[i] += plant.v[i] * 1e-9 * (double)PERIOD;
    }
}

static long nanoseconds(struct timespec from, struct timespec to)
{
    return (long)(to.tv_sec - from.tv_sec) * 1000000000L + (to.tv_nsec - from.tv_nsec);
}

int main(int argc, char **argv)
{
    const long steps = (long)(1000.0 * (argc > 1 ? atof(argv[1]) : 1.0));
    struct timespec next, before, after;
    long longest = 0, late = 0;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long step = 0; step < steps; step++) {
        double q[PUMA560_NQ], v[PUMA560_NV], a[PUMA560_NV], tau[PUMA560_NV];
        clock_gettime(CLOCK_MONOTONIC, &before);
        read_joints(q, v);
        for (int i = 0; i < PUMA560_NV; i++)
            a[i] = kp * (goal[i] - q[i]) - kd * v[i];
        puma560_inverse_dynamics(q, v, a, tau);
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
    for (int i = 0; i < PUMA560_NV; i++) {
        const double e = goal[i] > plant.q[i] ? goal[i] - plant.q[i] : plant.q[i] - goal[i];
        error = e > error ? e : error;
    }
    printf("%ld steps, %.1e rad from the goal, longest step %ld ns, %ld late\n", steps, error, longest, late);
    return 0;
}
