# test: lower
# target: gpu
# run: default rules
# A workgroup takes the block around the loop over time. Its threads share the sum and the update of each step, and wait for each other.
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
#
# kernel main  # layer, first, product, step
#   launch grid [1, 1, 1] block [4, 32, 1]
#   array w: float32, 576 elements, global read param 0
#   array x: float32, 240 elements, global read param 1
#   array y: float32, 240 elements, global write param 2
#   array product_part: float32, 1 elements, local
#   array product_parts: float32, 134 elements, shared
#   array state: float32, 128 elements, shared
#   array product: float32, 128 elements, shared
#   cost 1872 flop, 4224 bytes; accesses proved
#   state[(threadIdx.y * 4) + threadIdx.x] = 0.0
#   barrier
#   for step from 0, 10 times:
#     product_part[0] = 0.0
#     for k_0 from 0, 6 times:
#       if threadIdx.y < 24:
#         product_part[0] = product_part[0] + (w[((threadIdx.y * 24) + (k_0 * 4)) + threadIdx.x] * state[(k_0 * 4) + threadIdx.x])
#     product_parts[((threadIdx.y * 4) + ((threadIdx.y >> 3) * 2)) + threadIdx.x] = product_part[0]
#     barrier
#     if (threadIdx.x == 0) and (threadIdx.y < 24):
#       product[threadIdx.y] = (product_parts[(threadIdx.y * 4) + ((threadIdx.y >> 3) * 2)] + product_parts[((threadIdx.y * 4) + ((threadIdx.y >> 3) * 2)) + 2]) + (product_parts[((threadIdx.y * 4) + ((threadIdx.y >> 3) * 2)) + 1] + product_parts[((threadIdx.y * 4) + ((threadIdx.y >> 3) * 2)) + 3])
#     barrier
#     if threadIdx.y < 6:
#       state[(threadIdx.y * 4) + threadIdx.x] = tanh((product[(threadIdx.y * 4) + threadIdx.x] * 0.125) + x[((step * 24) + (threadIdx.y * 4)) + threadIdx.x])
#     barrier
#     if threadIdx.y < 6:
#       y[((step * 24) + (threadIdx.y * 4)) + threadIdx.x] = state[(threadIdx.y * 4) + threadIdx.x]
