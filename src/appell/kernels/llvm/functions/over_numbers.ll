; A loop over the numbers of a row, some of them at a time: %d_at and %s_at are their places.
define $head {
entry:
  %some_rows = icmp ne i64 %rows, 0
  %some_columns = icmp ne i64 %columns, 0
  %some = and i1 %some_rows, %some_columns
  br i1 %some, label %body, label %end
body:
  %a = phi i64 [ 0, %entry ], [ %next_a, %done ]
  %b = phi i64 [ 0, %entry ], [ %next_b, %done ]
  %d_a = mul i64 %a, %d0
  %d_b = mul i64 %b, %d1
  %d_ab = add i64 %d_a, %d_b
  %d_at = getelementptr i8, ptr %dst, i64 %d_ab
  %s_a = mul i64 %a, %s0
  %s_b = mul i64 %b, %s1
  %s_ab = add i64 %s_a, %s_b
  %s_at = getelementptr i8, ptr %src, i64 %s_ab
$lines
  br label %done
done:
  %after = add i64 %b, $by
  %is_inside = icmp ult i64 %after, %columns
  %next_b = select i1 %is_inside, i64 %after, i64 0
  %below = add i64 %a, 1
  %next_a = select i1 %is_inside, i64 %a, i64 %below
  %more = icmp ult i64 %next_a, %rows
  br i1 %more, label %body, label %end
end:
  ret void
}
