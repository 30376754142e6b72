/* Sines and cosines of many angles; compilers can vectorise the second loop. */
static void sines_cosines(const int count, const $real *restrict x, $real *restrict s, $real *restrict c)
{
    int n_large = 0;
    for (int i = 0; i < count; i++) {
        const int is_fast = $is_fast;
        s[i] = is_fast ? x[i] : $zero;
        n_large += !is_fast;
    }
    for (int i = 0; i < count; i++) {
        $real r = s[i];
        const int k = (int)(r * $turns + $rounding) - $positive;
        const $real n = ($real)k;
$steps
        const $real z = r * r;
        const $real sine = r + r * z * ($sine);
        const $real cosine = $one - $half * z + z * z * ($cosine);
        const $real first = (k & 1) ? cosine : sine;
        const $real second = (k & 1) ? sine : cosine;
        s[i] = (k & 2) ? -first : first;
        c[i] = ((k + 1) & 2) ? -second : second;
    }
    for (int i = 0; n_large > 0 && i < count; i++) {
        if (!($is_fast)) {
            $large
            n_large--;
        }
    }
}
