/* Computed torque on a microcontroller: no operating system, no C library, no heap.
 *
 *     appell export puma560 --verb inverse_dynamics --real float --no-libm --prefix arm --out arm.c
 *     arm-none-eabi-gcc -mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard -std=c99 -O2 -ffreestanding -nostdlib
 *         embedded.c arm.c -lgcc -Wl,--entry=reset -o image.elf
 *
 * A timer wakes the processor once per period. It reads positions and velocities of the drives, computes the torques of
 * the reference motion with feedback, and writes them. examples/11_embedded.py exports, compiles and checks it.
 */
#include "arm.h"

typedef struct {
    float q[ARM_NQ], v[ARM_NV];                      /* measured [rad], [rad/s] */
    float goal_q[ARM_NQ], goal_v[ARM_NV], goal_a[ARM_NV]; /* reference */
    float tau[ARM_NU];                               /* commanded [N m] */
} Drives;

/* Where the drives are mapped; a linker script may place it. */
volatile Drives drives;

static const float kp = 400.0F; /* [1/s^2] */
static const float kd = 40.0F;  /* [1/s] */

void control_period(volatile Drives *d)
{
    float q[ARM_NQ], v[ARM_NV], a[ARM_NV], tau[ARM_NU];
    for (int i = 0; i < ARM_NV; i++) {
        q[i] = d->q[i];
        v[i] = d->v[i];
        a[i] = d->goal_a[i] + kd * (d->goal_v[i] - v[i]) + kp * (d->goal_q[i] - q[i]);
    }
    arm_inverse_dynamics(q, v, a, tau);
    for (int i = 0; i < ARM_NU; i++) {
        d->tau[i] = tau[i];
    }
}

#ifdef __arm__
void reset(void)
{
    for (;;) {
        __asm__ volatile("wfi"); /* until the timer's interrupt */
        control_period(&drives);
    }
}
#endif
