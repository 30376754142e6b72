; A function that XLA calls. Numbers are offsets of fields in bytes (xla/ffi/api/c_api.h of jaxlib).
@steps = internal constant [$count x i64] [$steps]

define ptr @handler(ptr %frame) {
entry:
  %extension_at = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %extension_at, align 8
  %is_call = icmp eq ptr %extension, null
  br i1 %is_call, label %run, label %asked
asked:
  %type_at = getelementptr i8, ptr %extension, i64 8
  %type = load i32, ptr %type_at, align 4
  ; the type of the extension by which XLA asks for the version of a handler
  %asks = icmp eq i32 %type, 1
  br i1 %asks, label %answer, label %run
answer:
  ; it was written for the version that asks: the fields here are those of all so far
  %metadata_at = getelementptr i8, ptr %extension, i64 24
  %metadata = load ptr, ptr %metadata_at, align 8
  %api_at = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %api_at, align 8
  %version_at = getelementptr i8, ptr %api, i64 32
  %version = load i64, ptr %version_at, align 4
  %version_to = getelementptr i8, ptr %metadata, i64 24
  store i64 %version, ptr %version_to, align 4
  %traits = getelementptr i8, ptr %metadata, i64 32
  store i32 0, ptr %traits, align 4
  ret ptr null
run:
  %arguments_at = getelementptr i8, ptr %frame, i64 72
  %arguments = load ptr, ptr %arguments_at, align 8
  %results_at = getelementptr i8, ptr %frame, i64 112
  %results = load ptr, ptr %results_at, align 8
  %places = alloca [$ports x ptr], align 8
  %count = alloca i64, align 8
$buffers
  %rank_at = getelementptr i8, ptr %buffer0, i64 32
  %rank = load i64, ptr %rank_at, align 8
  %dimensions_at = getelementptr i8, ptr %buffer0, i64 40
  %dimensions = load ptr, ptr %dimensions_at, align 8
  %leading = sub i64 %rank, 1
  br label %next
next:
  %i = phi i64 [ 0, %run ], [ %i_next, %multiply ]
  %n = phi i64 [ 1, %run ], [ %n_next, %multiply ]
  %more = icmp slt i64 %i, %leading
  br i1 %more, label %multiply, label %call
multiply:
  %dimension_at = getelementptr i64, ptr %dimensions, i64 %i
  %dimension = load i64, ptr %dimension_at, align 8
  %n_next = mul i64 %n, %dimension
  %i_next = add i64 %i, 1
  br label %next
call:
  store i64 %n, ptr %count, align 8
  call void inttoptr (i64 $loop to ptr)(ptr %places, ptr %count, ptr @steps, ptr null)
  ret ptr null
}
