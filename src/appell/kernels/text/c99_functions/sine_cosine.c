/* sin x = r + r z (s1 + s2 z + ...), cos x = 1 - z/2 + z z (c1 + c2 z + ...), with z = r r, r = x - k pi/2,
 * swapped and signed by the quadrant k. */
static void sine_cosine(const $real x, $real *s, $real *c)
{
    $real r = x;
    unsigned long quadrant;
    if (x <= $largest && x >= -$largest) {
        const long k = (long)(x * $turns + (x < $zero ? -$half : $half));
        const $real n = ($real)k;
        quadrant = (unsigned long)k;
$steps
    } else {
        r = $large;
    }
    const $real z = r * r;
    const $real sine = r + r * z * ($sine);
    const $real cosine = $one - $half * z + z * z * ($cosine);
    const $real first = (quadrant & 1UL) ? cosine : sine;
    const $real second = (quadrant & 1UL) ? sine : cosine;
    *s = (quadrant & 2UL) ? -first : first;
    *c = ((quadrant + 1UL) & 2UL) ? -second : second;
}
