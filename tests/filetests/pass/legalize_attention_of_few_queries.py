# test: pass
# target: gpu
# run: legalize_ops
# One query of a cache of any length: a workgroup mixes a part of the values for the four heads that share keys, then parts are merged.

@I.ir_module
class Module:
    @R.function
    def main(q: R.Tensor((1, 1, 8, 16), "float32"), k: R.Tensor((1, "n", 2, 16), "float32"), v: R.Tensor((1, "n", 2, 16), "float32")):
        with R.dataflow():
            y = R.nn.attention(q, k, v, causal_mask="BottomRight")
            R.output(y)
        return y
# expect:
# from tvm.script import ir as I
# from tvm.script import tir as T
# from tvm.script import relax as R

@I.ir_module
class Module:
    @T.prim_func(private=True)
    def attention(query: T.Buffer((1, 1, 8, 16), "float32"), var_key: T.handle, var_value: T.handle, attention: T.Buffer((1, 1, 8, 16), "float32")):
        n = T.int64()
        key = T.match_buffer(var_key, (1, n, 2, 16))
        value = T.match_buffer(var_value, (1, n, 2, 16))
        # with T.block("root"):
        attention_parts_v0 = T.alloc_buffer((1, 2, 4, 12, 16))
        attention_parts_v1 = T.alloc_buffer((1, 2, 4, 12))
        attention_parts_v2 = T.alloc_buffer((1, 2, 4, 12))
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(1), T.int64(12)):
            with T.block("attention_parts"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(query[v_i0, v_i2, v_i1 * T.int64(4):v_i1 * T.int64(4) + T.int64(4), T.int64(0):T.int64(16)], key[v_i0, T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16):T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16) + (T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)) + T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16) + T.min(n - T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16), T.int64(16)) - T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16) - T.int64(16)), v_i1, T.int64(0):T.int64(16)], value[v_i0, T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16):T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16) + (T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)) + T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16) + T.min(n - T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16), T.int64(16)) - T.min(v_i3 * T.max((n + T.int64(191)) // T.int64(192), T.int64(4)), (T.max(n + T.min(v_i2, T.int64(0)), T.int64(0)) + T.int64(15)) // T.int64(16)) * T.int64(16) - T.int64(16)), v_i1, T.int64(0):T.int64(16)])
                T.writes(attention_parts_v0[v_i0, v_i1, v_i2 * T.int64(4):v_i2 * T.int64(4) + T.int64(4), v_i3, T.int64(0):T.int64(16)], attention_parts_v1[v_i0, v_i1, v_i2 * T.int64(4):v_i2 * T.int64(4) + T.int64(4), v_i3], attention_parts_v2[v_i0, v_i1, v_i2 * T.int64(4):v_i2 * T.int64(4) + T.int64(4), v_i3])
                T.block_attr({"any_order": True})
                queries = T.alloc_buffer((4, 16), scope="local")
                maximum = T.alloc_buffer((4,), scope="local")
                total = T.alloc_buffer((4,), scope="local")
                mixed = T.alloc_buffer((4, 1, 16), scope="local")
                for i, e in T.grid(T.int64(4), T.int64(16)):
                    with T.block("queries"):
                        v_i, v_e = T.axis.remap("SS", [i, e])
                        T.reads(query[v_i0, (v_i2 * T.int64(4) + v_i) // T.int64(4), v_i1 * T.int64(4) + (v_i2 * T.int64(4) + v_i) % T.int64(4), v_e])
                        T.writes(queries[v_i, v_e])
                        queries[v_i, v_e] = query[v_i0, (v_i2 * T.int64(4) + v_i) // T.int64(4), v_i1 * T.int64(4) + (v_i2 * T.int64(4) + v_i) % T.int64(4), v_e] * T.float32(0.25)
                for i in range(T.int64(4)):
                    with T.block("maximum_first"):
                        v_i = T.axis.spatial(T.int64(4), i)
                        T.reads()
                        T.writes(maximum[v_i])
                        maximum[v_i] = T.float32("-inf")
                for i in range(T.int64(4)):
                    with T.block("total_first"):
                        v_i = T.axis.spatial(T.int64(4), i)
                        T.reads()
                        T.writes(total[v_i])
                        total[v_i] = T.float32(0)
                for i, e_p, e_c in T.grid(T.int64(4), T.int64(1), T.int64(16)):
                    with T.block("mixed_first"):
                        v_i, v_e_p, v_e_c = T.axis.remap("SSS", [i, e_p, e_c])
                        T.reads()
                        T.writes(mixed[v_i, v_e_p, v_e_c])
                        mixed[v_i, v_e_p, v_e_c] = T.float32(0)
                for t in range(T.min(T.max(v_i3 * T.max(((n + T.int64(15)) // T.int64(16) + T.int64(11)) // T.int64(12), T.int64(4)), T.int64(0)), T.min(v_i3 * T.max(((n + T.int64(15)) // T.int64(16) + T.int64(11)) // T.int64(12), T.int64(4)) + T.max(((n + T.int64(15)) // T.int64(16) + T.int64(11)) // T.int64(12), T.int64(4)), (T.max(T.min((v_i2 * T.int64(4) + T.int64(3)) // T.int64(4) + (n - T.int64(1)) + T.int64(1), n), T.int64(0)) + T.int64(15)) // T.int64(16))), T.min(v_i3 * T.max(((n + T.int64(15)) // T.int64(16) + T.int64(11)) // T.int64(12), T.int64(4)) + T.max(((n + T.int64(15)) // T.int64(16) + T.int64(11)) // T.int64(12), T.int64(4)), (T.max(T.min((v_i2 * T.int64(4) + T.int64(3)) // T.int64(4) + (n - T.int64(1)) + T.int64(1), n), T.int64(0)) + T.int64(15)) // T.int64(16))):
                    with T.block("tile"):
                        v_t = T.axis.scan((n + T.int64(15)) // T.int64(16), t)
                        T.reads(key[v_i0, v_t * T.int64(16):v_t * T.int64(16) + T.min(n - v_t * T.int64(16), T.int64(16)), v_i1, T.int64(0):T.int64(16)], value[v_i0, v_t * T.int64(16):v_t * T.int64(16) + T.min(n - v_t * T.int64(16), T.int64(16)), v_i1, T.int64(0):T.int64(16)], queries[T.int64(0):T.int64(4), T.int64(0):T.int64(16)], maximum[T.int64(0):T.int64(4)], total[T.int64(0):T.int64(4)], mixed[T.int64(0):T.int64(4), T.int64(0), T.int64(0):T.int64(16)])
                        T.writes(total[T.int64(0):T.int64(4)], mixed[T.int64(0):T.int64(4), T.int64(0), T.int64(0):T.int64(16)], maximum[T.int64(0):T.int64(4)])
                        keys = T.alloc_buffer((1, 16, 16), scope="local")
                        values = T.alloc_buffer((1, 16, 16), scope="local")
                        products = T.alloc_buffer((1, 16, 4), scope="local")
                        scores = T.alloc_buffer((1, 16, 4), scope="local")
                        greatest = T.alloc_buffer((4,), scope="local")
                        raised = T.alloc_buffer((4,), scope="local")
                        shift = T.alloc_buffer((4,), scope="local")
                        shrink = T.alloc_buffer((4,), scope="local")
                        weights = T.alloc_buffer((1, 16, 4), scope="local")
                        added = T.alloc_buffer((4,), scope="local")
                        share = T.alloc_buffer((4, 1, 16), scope="local")
                        for p, e, c in T.grid(T.int64(1), T.int64(16), T.int64(16)):
                            with T.block("keys"):
                                v_p, v_e, v_c = T.axis.remap("SSS", [p, e, c])
                                T.reads(key[v_i0, T.min(v_t * T.int64(16) + (v_p * T.int64(16) + v_c), n - T.int64(1)), v_i1, v_e])
                                T.writes(keys[v_p, v_c, v_e])
                                keys[v_p, v_c, v_e] = key[v_i0, T.min(v_t * T.int64(16) + (v_p * T.int64(16) + v_c), n - T.int64(1)), v_i1, v_e]
                        for p, j, c in T.grid(T.int64(1), T.int64(16), T.int64(16)):
                            with T.block("values"):
                                v_p, v_j, v_c = T.axis.remap("SSS", [p, j, c])
                                T.reads(value[v_i0, T.min(v_t * T.int64(16) + v_j, n - T.int64(1)), v_i1, v_p * T.int64(16) + v_c])
                                T.writes(values[v_p, v_j, v_c])
                                values[v_p, v_j, v_c] = T.if_then_else(v_t * T.int64(16) + v_j < n, value[v_i0, T.min(v_t * T.int64(16) + v_j, n - T.int64(1)), v_i1, v_p * T.int64(16) + v_c], T.float32(0))
                        for i, j_p, j_c, e in T.grid(T.int64(4), T.int64(1), T.int64(16), T.int64(16)):
                            with T.block("products"):
                                v_i, v_j_p, v_j_c, v_e = T.axis.remap("SSSR", [i, j_p, j_c, e])
                                T.reads(queries[v_i, v_e], keys[v_j_p, v_j_c, v_e])
                                T.writes(products[v_j_p, v_j_c, v_i])
                                with T.init():
                                    products[v_j_p, v_j_c, v_i] = T.float32(0)
                                products[v_j_p, v_j_c, v_i] = products[v_j_p, v_j_c, v_i] + queries[v_i, v_e] * keys[v_j_p, v_j_c, v_e]
                        for i, j_p, j_c in T.grid(T.int64(4), T.int64(1), T.int64(16)):
                            with T.block("scores"):
                                v_i, v_j_p, v_j_c = T.axis.remap("SSS", [i, j_p, j_c])
                                T.reads(products[v_j_p, v_j_c, v_i])
                                T.writes(scores[v_j_p, v_j_c, v_i])
                                scores[v_j_p, v_j_c, v_i] = T.if_then_else(v_t * T.int64(16) + (v_j_p * T.int64(16) + v_j_c) < n, T.Select(v_t * T.int64(16) + (v_j_p * T.int64(16) + v_j_c) <= (v_i2 * T.int64(4) + v_i) // T.int64(4) + (n - T.int64(1)), products[v_j_p, v_j_c, v_i], T.float32("-inf")), T.float32("-inf"))
                        for i, j_p, j_c in T.grid(T.int64(4), T.int64(1), T.int64(16)):
                            with T.block("greatest"):
                                v_i, v_j_p, v_j_c = T.axis.remap("SRR", [i, j_p, j_c])
                                T.reads(scores[v_j_p, v_j_c, v_i])
                                T.writes(greatest[v_i])
                                with T.init():
                                    greatest[v_i] = T.float32("-inf")
                                greatest[v_i] = T.max(greatest[v_i], scores[v_j_p, v_j_c, v_i])
                        for i in range(T.int64(4)):
                            with T.block("raised"):
                                v_i = T.axis.spatial(T.int64(4), i)
                                T.reads(maximum[v_i], greatest[v_i])
                                T.writes(raised[v_i])
                                raised[v_i] = T.max(maximum[v_i], greatest[v_i])
                        for i in range(T.int64(4)):
                            with T.block("shift"):
                                v_i = T.axis.spatial(T.int64(4), i)
                                T.reads(raised[v_i])
                                T.writes(shift[v_i])
                                shift[v_i] = T.Select(raised[v_i] == T.float32("-inf"), T.float32(0), raised[v_i])
                        for i in range(T.int64(4)):
                            with T.block("shrink"):
                                v_i = T.axis.spatial(T.int64(4), i)
                                T.reads(maximum[v_i], shift[v_i])
                                T.writes(shrink[v_i])
                                shrink[v_i] = T.exp(maximum[v_i] - shift[v_i])
                        for i, j_p, j_c in T.grid(T.int64(4), T.int64(1), T.int64(16)):
                            with T.block("weights"):
                                v_i, v_j_p, v_j_c = T.axis.remap("SSS", [i, j_p, j_c])
                                T.reads(scores[v_j_p, v_j_c, v_i], shift[v_i])
                                T.writes(weights[v_j_p, v_j_c, v_i])
                                weights[v_j_p, v_j_c, v_i] = T.exp(scores[v_j_p, v_j_c, v_i] - shift[v_i])
                        for i, j_p, j_c in T.grid(T.int64(4), T.int64(1), T.int64(16)):
                            with T.block("added"):
                                v_i, v_j_p, v_j_c = T.axis.remap("SRR", [i, j_p, j_c])
                                T.reads(weights[v_j_p, v_j_c, v_i])
                                T.writes(added[v_i])
                                with T.init():
                                    added[v_i] = T.float32(0)
                                added[v_i] = added[v_i] + weights[v_j_p, v_j_c, v_i]
                        for i, e_p, e_c, j_p, j_c in T.grid(T.int64(4), T.int64(1), T.int64(16), T.int64(1), T.int64(16)):
                            with T.block("share"):
                                v_i, v_e_p, v_e_c, v_j_p, v_j_c = T.axis.remap("SSSRR", [i, e_p, e_c, j_p, j_c])
                                T.reads(weights[v_j_p, v_j_c, v_i], values[v_e_p, v_j_p * T.int64(16) + v_j_c, v_e_c])
                                T.writes(share[v_i, v_e_p, v_e_c])
                                with T.init():
                                    share[v_i, v_e_p, v_e_c] = T.float32(0)
                                share[v_i, v_e_p, v_e_c] = share[v_i, v_e_p, v_e_c] + weights[v_j_p, v_j_c, v_i] * values[v_e_p, v_j_p * T.int64(16) + v_j_c, v_e_c]
                        for i in range(T.int64(4)):
                            with T.block("total_next"):
                                v_i = T.axis.spatial(T.int64(4), i)
                                T.reads(total[v_i], shrink[v_i], added[v_i])
                                T.writes(total[v_i])
                                T.block_attr({"any_order": True})
                                total[v_i] = total[v_i] * shrink[v_i] + added[v_i]
                        for i, e_p, e_c in T.grid(T.int64(4), T.int64(1), T.int64(16)):
                            with T.block("mixed_next"):
                                v_i, v_e_p, v_e_c = T.axis.remap("SSS", [i, e_p, e_c])
                                T.reads(mixed[v_i, v_e_p, v_e_c], shrink[v_i], share[v_i, v_e_p, v_e_c])
                                T.writes(mixed[v_i, v_e_p, v_e_c])
                                T.block_attr({"any_order": True})
                                mixed[v_i, v_e_p, v_e_c] = mixed[v_i, v_e_p, v_e_c] * shrink[v_i] + share[v_i, v_e_p, v_e_c]
                        for i in range(T.int64(4)):
                            with T.block("maximum_next"):
                                v_i = T.axis.spatial(T.int64(4), i)
                                T.reads(raised[v_i])
                                T.writes(maximum[v_i])
                                maximum[v_i] = raised[v_i]
                for i, e_p, e_c in T.grid(T.int64(4), T.int64(1), T.int64(16)):
                    with T.block("mixed_part"):
                        v_i = T.axis.spatial(T.int64(4), v_i2 * T.int64(4) + i)
                        v_e = T.axis.spatial(T.int64(16), e_p * T.int64(16) + e_c)
                        T.reads(mixed[v_i - v_i2 * T.int64(4), v_e // T.int64(16), v_e % T.int64(16)])
                        T.writes(attention_parts_v0[v_i0, v_i1, v_i, v_i3, v_e])
                        attention_parts_v0[v_i0, v_i1, v_i, v_i3, v_e] = T.Select(T.min(v_i // T.int64(4) + (n - T.int64(1)), n - T.int64(1)) < T.int64(0), T.float32(0), mixed[v_i - v_i2 * T.int64(4), v_e // T.int64(16), v_e % T.int64(16)])
                for i in range(T.int64(4)):
                    with T.block("maximum_part"):
                        v_i = T.axis.spatial(T.int64(4), i)
                        T.reads(maximum[v_i])
                        T.writes(attention_parts_v1[v_i0, v_i1, v_i2 * T.int64(4) + v_i, v_i3])
                        attention_parts_v1[v_i0, v_i1, v_i2 * T.int64(4) + v_i, v_i3] = T.Select(T.min((v_i2 * T.int64(4) + v_i) // T.int64(4) + (n - T.int64(1)), n - T.int64(1)) < T.int64(0), T.float32(0), maximum[v_i])
                for i in range(T.int64(4)):
                    with T.block("total_part"):
                        v_i = T.axis.spatial(T.int64(4), i)
                        T.reads(total[v_i])
                        T.writes(attention_parts_v2[v_i0, v_i1, v_i2 * T.int64(4) + v_i, v_i3])
                        attention_parts_v2[v_i0, v_i1, v_i2 * T.int64(4) + v_i, v_i3] = T.Select(T.min((v_i2 * T.int64(4) + v_i) // T.int64(4) + (n - T.int64(1)), n - T.int64(1)) < T.int64(0), T.float32(1), total[v_i])
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(2), T.int64(4), T.int64(16)):
            with T.block("attention"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(attention_parts_v1[v_i0, v_i1, v_i2, T.int64(0):T.int64(12)], attention_parts_v2[v_i0, v_i1, v_i2, T.int64(0):T.int64(12)], attention_parts_v0[v_i0, v_i1, v_i2, T.int64(0):T.int64(12), v_i3])
                T.writes(attention[v_i0, v_i2 // T.int64(4), v_i1 * T.int64(4) + v_i2 % T.int64(4), v_i3])
                T.block_attr({"any_order": True})
                greatest = T.alloc_buffer((1,), scope="local")
                sums = T.alloc_buffer((1,), scope="local")
                values = T.alloc_buffer((1,), scope="local")
                greatest[T.int64(0)] = T.float32("-inf")
                for p in range(T.int64(12)):
                    greatest[T.int64(0)] = T.max(greatest[T.int64(0)], attention_parts_v1[v_i0, v_i1, v_i2, p])
                greatest[T.int64(0)] = T.Select(greatest[T.int64(0)] == T.float32("-inf"), T.float32(0), greatest[T.int64(0)])
                sums[T.int64(0)] = T.float32(0)
                values[T.int64(0)] = T.float32(0)
                for p in range(T.int64(12)):
                    sums[T.int64(0)] = sums[T.int64(0)] + T.exp(attention_parts_v1[v_i0, v_i1, v_i2, p] - greatest[T.int64(0)]) * attention_parts_v2[v_i0, v_i1, v_i2, p]
                    values[T.int64(0)] = values[T.int64(0)] + T.exp(attention_parts_v1[v_i0, v_i1, v_i2, p] - greatest[T.int64(0)]) * attention_parts_v0[v_i0, v_i1, v_i2, p, v_i3]
                attention[v_i0, v_i2 // T.int64(4), v_i1 * T.int64(4) + v_i2 % T.int64(4), v_i3] = values[T.int64(0)] / sums[T.int64(0)]

    @R.function
    def main(q: R.Tensor((1, 1, 8, 16), dtype="float32"), k: R.Tensor((1, "n", 2, 16), dtype="float32"), v: R.Tensor((1, "n", 2, 16), dtype="float32")) -> R.Tensor((1, 1, 8, 16), dtype="float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.attention, (q, k, v), out_sinfo=R.Tensor((1, 1, 8, 16), dtype="float32"))
            R.output(y)
        return y
