# test: lower
# target: avx2
# run: default rules
# A thread takes the block around the loop over time. Sums run on vectors of their terms, and the update of a step on vectors of results.
# The factor keeps ten steps from making much of how sums are rounded.

@T.prim_func
def main(w: T.Buffer((24, 24), "float32"), x: T.Buffer((10, 24), "float32"), y: T.Buffer((10, 24), "float32")):
    with T.block("layer"):
        state = T.alloc_buffer((24,))
        product = T.alloc_buffer((24,))
        for j in range(24):
            with T.block("first"):
                vj = T.axis.spatial(24, j)
                state[vj] = T.float32(0)
        for step in range(10):
            for j, k in T.grid(24, 24):
                with T.block("product"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    with T.init():
                        product[vj] = T.float32(0)
                    product[vj] = product[vj] + w[vj, vk] * state[vk]
            for j in range(24):
                with T.block("step"):
                    vs = T.axis.scan(10, step)
                    vj = T.axis.spatial(24, j)
                    T.block_attr({"any_order": True})
                    state[vj] = T.tanh(product[vj] * T.float32(0.125) + x[vs, vj])
                    y[vs, vj] = state[vj]
# expect-listing:
# func main()
#   param 0 w: float32[24, 24]
#   param 1 x: float32[10, 24]
#   param 2 y: float32[10, 24] written
#   temp 0 state: float32[24]
#
# kernel main  # layer, first, product_init, product_update, step
#   array w: float32, 576 elements, global read param 0
#   array x: float32, 240 elements, global read param 1
#   array y: float32, 240 elements, global write param 2
#   array state: float32, 24 elements, global read write temp 0
#   array product: float32, 32 elements, local
#   array product_cell.5: float32, 1 elements, local
#   array product_cell.6: float32, 1 elements, local
#   array product_cell.7: float32, 1 elements, local
#   array product_cell.8: float32, 1 elements, local
#   cost 1872 flop, 4416 bytes; accesses proved
#   state[0] = splat16(0.0)
#   state[16 : 16, first 8] = splat16(0.0)
#   for step from 0, 10 times:
#     for j_0 from 0, 6 times:
#       product[j_0 * 4] = 0.0
#       product[(j_0 * 4) + 1] = 0.0
#       product[(j_0 * 4) + 2] = 0.0
#       product[(j_0 * 4) + 3] = 0.0
#       product_cell.5[0] = product[j_0 * 4]
#       product_cell.6[0] = product[(j_0 * 4) + 1]
#       product_cell.7[0] = product[(j_0 * 4) + 2]
#       product_cell.8[0] = product[(j_0 * 4) + 3]
#       simd reduction for k from 0, 24 times:
#         product_cell.5[0] = product_cell.5[0] + (w[(j_0 * 96) + k] * state[k])
#         product_cell.6[0] = product_cell.6[0] + (w[((j_0 * 96) + k) + 24] * state[k])
#         product_cell.7[0] = product_cell.7[0] + (w[((j_0 * 96) + k) + 48] * state[k])
#         product_cell.8[0] = product_cell.8[0] + (w[((j_0 * 96) + k) + 72] * state[k])
#       product[j_0 * 4] = product_cell.5[0]
#       product[(j_0 * 4) + 1] = product_cell.6[0]
#       product[(j_0 * 4) + 2] = product_cell.7[0]
#       product[(j_0 * 4) + 3] = product_cell.8[0]
#     state[0] = tanh((product[0 : 16] * splat16(0.125)) + x[step * 24 : 16])
#     y[step * 24] = state[0 : 16]
#     state[16 : 16, first 8] = tanh((product[16 : 16, first 8] * splat16(0.125)) + x[(step * 24) + 16 : 16, first 8])
#     y[(step * 24) + 16 : 16, first 8] = state[16 : 16, first 8]
