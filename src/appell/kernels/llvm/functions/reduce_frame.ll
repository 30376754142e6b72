; Every angle of some lanes of a frame, number by number.
define internal void @${name}_of_frame(ptr %shared, i64 %lanes) noinline cold {
entry:
  br label %number
number:
  %j = phi i64 [ 0, %entry ], [ %next, %done ]
  %lane = and i64 %j, $last_lane
  %bit = lshr i64 %lanes, %lane
  %is_far = trunc i64 %bit to i1
  br i1 %is_far, label %far, label %done
far:
  %at_j = getelementptr [$count x i64], ptr @${name}_places, i64 0, i64 %j
  %at = load i64, ptr %at_j
  %place = getelementptr i8, ptr %shared, i64 %at
  %x = load $real, ptr %place, align $size
$reduced
  store $real %reduced, ptr %place, align $size
  br label %done
done:
  %next = add i64 %j, 1
  %more = icmp ult i64 %next, $count
  br i1 %more, label %number, label %end
end:
  ret void
}
@${name}_places = internal constant [$count x i64] [$places]
