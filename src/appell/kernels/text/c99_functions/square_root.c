/* The root of x: half its exponent is a guess to 6 %, and Heron's mean squares the error. */
static $real square_root(const $real x)
{
    union {
        double number;
        uint64_t bits;
    } as;
    as.number = $widen;
    if (!(as.number > 0.0)) {
        return x < $zero ? (x - x) / (x - x) : x;
    }
    if (!(as.number <= 0x1.fffffffffffffp+1023)) {
        return x;
    }
    const int tiny = as.number < 0x1p-1000;
    if (tiny) {
        as.number *= 0x1p+108;
    }
    const double square = as.number;
    as.bits = (as.bits >> 1) + 0x1FF7A3BEA91D9B1BULL;
    double root = as.number;
    for (int i = 0; i < 4; i++) {
        root = 0.5 * (root + square / root);
    }
    return $narrow(tiny ? root * 0x1p-54 : root);
}
