# test: parse
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        c0 = R.concat((x, x))
        c1 = R.concat((c0, c0))
        c2 = R.concat((c1, c1))
        c3 = R.concat((c2, x))
        t0 = (c3, x)
        t1 = (t0, t0)
        t2 = (t1, t1)
        t3 = (t2, t2)
        t4 = (t3, t3)
        t5 = (t4, t4)
        t6 = (t5, t5)
        t7 = (t6, t6)
        t8 = (t7, t7)
        t9 = (t8, t8)
        t10 = (t9, t9)
        t11 = (t10, t10)
        t12 = (t11, t11)
        t13 = (t12, t12)
        t14 = (t13, t13)
        t15 = (t14, t14)
        return c3
# expect-error:
# error: what is known of the value has more than 65536 parts
#    --> graph_growing_types.py:24:15
#    |
# 24 |         t14 = (t13, t13)
#    |               ^^^^^^^^^^
