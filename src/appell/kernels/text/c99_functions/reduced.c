/* r in [-pi/4, pi/4] and the quadrant of a large angle: its mantissa times the bits of
 * 1/(2 pi) that matter, modulo 1. */
static double reduced(const double x, unsigned long *quadrant)
{
    static const uint32_t inverse[$count] = {
        $entries
    };
    union {
        double number;
        uint64_t bits;
    } as;
    as.number = x;
    const uint32_t field = (uint32_t)(as.bits >> 52) & 2047U;
    if (field == 2047U) {
        *quadrant = 0UL;
        return x - x;
    }
    const uint64_t mantissa = (as.bits & 0xFFFFFFFFFFFFFULL) | 0x10000000000000ULL;
    const uint64_t low = mantissa & 0xFFFFFFFFU, high = mantissa >> 32;
    const uint32_t start = field - 947U; /* of the first bit that matters, the leading zeros counted */
    const uint32_t *word = inverse + (start >> 5);
    const uint32_t shift = start & 31U;
    uint32_t bits[6], product[6];
    for (int i = 0; i < 6; i++) {
        const uint64_t pair = ((uint64_t)word[i] << 32) | word[i + 1];
        bits[i] = (uint32_t)((pair << shift) >> 32);
    }
    uint64_t carry = 0U;
    for (int i = 5; i >= 0; i--) {
        carry += low * bits[i];
        product[i] = (uint32_t)(carry & 0xFFFFFFFFU);
        carry >>= 32;
    }
    carry = 0U;
    for (int i = 4; i >= 0; i--) {
        carry += high * bits[i + 1] + product[i];
        product[i] = (uint32_t)(carry & 0xFFFFFFFFU);
        carry >>= 32;
    }
    const uint64_t top = ((uint64_t)product[0] << 32) | product[1];
    const uint64_t rest = ((uint64_t)product[2] << 32) | product[3];
    const uint64_t k = (top + 0x2000000000000000ULL) >> 62;
    const uint64_t left = top - (k << 62);
    const double whole = (left >> 63) ? -(double)(~left + 1U) : (double)left;
    const double angle = (whole + (double)rest * 0x1p-64) * $scale;
    const int is_negative = (int)(as.bits >> 63);
    *quadrant = (unsigned long)(is_negative ? 4U - k : k);
    return is_negative ? -angle : angle;
}
