# test: parse
@I.ir_module
class Module:
    sort = R.ExternFunc("my.sort")
    sort = R.ExternFunc("your.sort")

    @T.prim_func
    def sort(A: T.Buffer((4,), "float32")):
        A[0] = T.float32(0)
# expect-error:
# error: `sort` is defined twice
#   --> function_of_the_environment_twice.py:5:5
#   |
# 5 |     sort = R.ExternFunc("your.sort")
#   |     ^^^^
#
# error: `sort` is defined twice
#   --> function_of_the_environment_twice.py:8:9
#   |
# 8 |     def sort(A: T.Buffer((4,), "float32")):
#   |         ^^^^
