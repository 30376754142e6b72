@inverse_two_pi = internal unnamed_addr constant [$count x i64] [$entries]

define internal double @reduce(double %x) noinline cold {
  %bits = bitcast double %x to i64
  %field0 = lshr i64 %bits, 52
  %field = and i64 %field0, 2047
  %odd = icmp eq i64 %field, 2047
  %small = icmp ult i64 %field, 1029
  %plain = or i1 %odd, %small
  br i1 %plain, label %asis, label %large
asis:
  %difference = fsub double %x, %x
  %kept = fadd double %x, %difference
  ret double %kept
large:
  %low = and i64 %bits, 4503599627370495
  %mantissa = or i64 %low, 4503599627370496
  ; first wanted bit of 1/2pi, counted with the two zero words: e + 128 = field - 1075 + 128
  %start = sub i64 %field, 947
  %word = lshr i64 %start, 6
  %shift = and i64 %start, 63
  %p0 = getelementptr i64, ptr @inverse_two_pi, i64 %word
  %p1 = getelementptr i64, ptr %p0, i64 1
  %p2 = getelementptr i64, ptr %p0, i64 2
  %p3 = getelementptr i64, ptr %p0, i64 3
  %w0 = load i64, ptr %p0
  %w1 = load i64, ptr %p1
  %w2 = load i64, ptr %p2
  %w3 = load i64, ptr %p3
  %f0 = call i64 @llvm.fshl.i64(i64 %w0, i64 %w1, i64 %shift)
  %f1 = call i64 @llvm.fshl.i64(i64 %w1, i64 %w2, i64 %shift)
  %f2 = call i64 @llvm.fshl.i64(i64 %w2, i64 %w3, i64 %shift)
  %m = zext i64 %mantissa to i128
  %g1 = zext i64 %f1 to i128
  %g2 = zext i64 %f2 to i128
  %product2 = mul i128 %m, %g2
  %carry2 = lshr i128 %product2, 64
  %product1 = mul i128 %m, %g1
  %middle = add i128 %product1, %carry2
  %carry1 = lshr i128 %middle, 64
  %top = mul i64 %mantissa, %f0
  %carry = trunc i128 %carry1 to i64
  %high = add i64 %top, %carry
  %rest = trunc i128 %middle to i64
  %a = sitofp i64 %high to double
  %b = uitofp i64 %rest to double
  %b1 = fmul double %b, $word
  %sum = fadd double %a, %b1
  %angle = fmul double %sum, $turn
  %negative = icmp slt i64 %bits, 0
  %opposite = fneg double %angle
  %signed = select i1 %negative, double %opposite, double %angle
  ret double %signed
}

declare i64 @llvm.fshl.i64(i64, i64, i64)
