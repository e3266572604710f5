//! Bars that default schedules keep without a GPU at hand.

use weftile::explain::{Direction, GpuModel, Limit, Memory, predict};
use weftile::kernel::{GpuClass, Stmt};
use weftile::sched::rules::Search;

use super::{costs, fastest, kernels, matmul, module, of, seconds};

#[test]
fn the_tile_that_is_taken_is_nearly_the_best_of_all() {
    let products = [
        (64, 512, 768),
        (127, 311, 509),
        (1000, 1000, 500),
        (4096, 512, 768),
    ];
    for class in [GpuClass::Nvidia, GpuClass::Amd] {
        for (m, n, k) in products {
            let module = module(&matmul(m, n, k, false));
            let (_, func) = module.prim_funcs().next().expect("a loop program");
            let of = |search| seconds(&fastest(func, class, search), class);
            let (taken, best) = (of(Search::Promising), of(Search::All));
            assert!(
                taken <= 1.03 * best,
                "{class:?}, {m} x {n} x {k}: {taken} and {best}"
            );
        }
    }
}

#[test]
fn a_thread_of_a_large_matmul_reads_a_quarter_of_an_element_for_each_product() {
    for class in [GpuClass::Nvidia, GpuClass::Amd, GpuClass::Apple] {
        let cost = &costs(&matmul(2048, 2048, 2048, false), class, &[])[0];
        assert_eq!(cost.shared_per_fma(), Some(0.25), "{class:?}");
    }
}

#[test]
fn default_matmuls_meet_in_no_bank_and_read_whole_sectors() {
    for class in [
        GpuClass::Nvidia,
        GpuClass::Amd,
        GpuClass::Intel,
        GpuClass::Apple,
        GpuClass::Mobile,
    ] {
        for (m, n, k) in [
            (1024, 1024, 1024),
            (2048, 2048, 2048),
            (512, 384, 768),
            (4, 512, 256),
        ] {
            for transposed in [false, true] {
                for cost in costs(&matmul(m, n, k, transposed), class, &[]) {
                    for access in &cost.accesses {
                        let place = format!("{class:?}, {m} x {n} x {k}, {transposed}: {access:?}");
                        assert_eq!(access.excess(), 1.0, "{place}");
                    }
                }
            }
        }
    }
}

/// All but the software adapter.
const CLASSES: [GpuClass; 5] = [
    GpuClass::Nvidia,
    GpuClass::Amd,
    GpuClass::Intel,
    GpuClass::Apple,
    GpuClass::Mobile,
];

/// Barriers in the text of statements.
fn barriers(stmts: &[Stmt]) -> usize {
    let mut count = 0;
    for stmt in stmts {
        stmt.walk(&mut |stmt| count += usize::from(*stmt == Stmt::Barrier));
    }
    count
}

#[test]
fn the_body_of_a_tile_stands_once_whatever_the_sizes() {
    let open = r#"
    @T.prim_func
    def f(a: T.handle, b: T.handle, c: T.handle):
        m, n, kk = T.int64(), T.int64(), T.int64()
        A = T.match_buffer(a, (m, kk))
        B = T.match_buffer(b, (n, kk))
        C = T.match_buffer(c, (m, n))
        for i, j, k in T.grid(m, n, kk):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
"#;
    let programs = [
        matmul(127, 311, 509, false),
        matmul(1000, 1000, 500, true),
        matmul(2048, 2048, 1022, false),
        open.to_owned(),
        convolution_of(10, 48, 30, 1),
    ];
    for class in CLASSES {
        for (at, program) in programs.iter().enumerate() {
            let kernels = kernels(program, class);
            let most = kernels.iter().map(|kernel| barriers(&kernel.body)).max();
            // Before and after the copies to shared memory.
            assert_eq!(most, Some(2), "{class:?}, program {at}");
        }
    }
}

#[test]
fn default_products_of_few_rows_meet_in_no_bank_and_read_whole_sectors() {
    for class in CLASSES {
        for m in [1, 2, 4, 8] {
            for (n, k) in [(128, 784), (512, 256), (1000, 512), (4096, 4096), (64, 64)] {
                for transposed in [false, true] {
                    for cost in costs(&matmul(m, n, k, transposed), class, &[]) {
                        for access in &cost.accesses {
                            let of = format!("{m} x {n} x {k}, {transposed}");
                            // A workgroup has few columns there, and writes parts of sectors.
                            let is_part = transposed && access.array == "C";
                            if !is_part {
                                assert_eq!(access.excess(), 1.0, "{class:?}, {of}: {access:?}");
                            }
                        }
                        // Each weight is read once.
                        let weights = of(&cost, "B", Direction::Read);
                        assert!(weights.elements < 1.4 * (n * k) as f64, "{weights:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_product_of_one_row_keeps_many_threads_busy() {
    let model = GpuModel::of(GpuClass::Nvidia);
    for transposed in [false, true] {
        let cost = &costs(&matmul(1, 128, 784, transposed), GpuClass::Nvidia, &[])[0];
        assert!(cost.groups() * f64::from(cost.threads) >= 2048.0);
        assert!(cost.barriers <= 5.0, "{}", cost.barriers);
        // It took 111 us beside its dispatch with a tile of one row.
        let prediction = predict(cost, &model);
        assert!(prediction.time - model.launch < 8e-6, "{prediction:?}");
    }
}

/// A convolution of 64 channels in `NCHW`, of stride 1 with padding or of stride 2 without, or in `NHWC`.
fn convolution(filters: usize, size: usize, stride: usize) -> String {
    convolution_of(64, filters, size, stride)
}

fn convolution_of(channels: usize, filters: usize, size: usize, stride: usize) -> String {
    let (pad, padded) = if stride == 1 {
        (1, size + 2)
    } else {
        (0, size)
    };
    let result = (padded - 3) / stride + 1;
    format!(
        r#"
    @T.prim_func
    def f(X: T.Buffer((1, {channels}, {size}, {size}), "float32"), W: T.Buffer(({filters}, {channels}, 3, 3), "float32"), Y: T.Buffer((1, {filters}, {result}, {result}), "float32")):
        P = T.alloc_buffer((1, {channels}, {padded}, {padded}), "float32")
        for n, c, y, x in T.grid(1, {channels}, {padded}, {padded}):
            with T.block("P"):
                vn, vc, vy, vx = T.axis.remap("SSSS", [n, c, y, x])
                P[vn, vc, vy, vx] = T.if_then_else({pad} <= vy and vy < {size} + {pad} and {pad} <= vx and vx < {size} + {pad}, X[vn, vc, vy - {pad}, vx - {pad}], T.float32(0))
        for n, o, y, x, c, r, s in T.grid(1, {filters}, {result}, {result}, {channels}, 3, 3):
            with T.block("Y"):
                vn, vo, vy, vx, vc, vr, vs = T.axis.remap("SSSSRRR", [n, o, y, x, c, r, s])
                with T.init():
                    Y[vn, vo, vy, vx] = T.float32(0)
                Y[vn, vo, vy, vx] = Y[vn, vo, vy, vx] + P[vn, vc, vy * {stride} + vr, vx * {stride} + vs] * W[vo, vc, vr, vs]
"#
    )
}

#[test]
fn default_convolutions_meet_in_no_bank_and_pad_where_they_read() {
    for class in CLASSES {
        for (filters, size, stride) in [(64, 56, 1), (128, 28, 1), (64, 57, 2)] {
            let costs = costs(&convolution(filters, size, stride), class, &[]);
            for access in costs.iter().flat_map(|cost| &cost.accesses) {
                assert_ne!(access.array, "P", "{class:?}: padding is no kernel");
                let place = format!("{class:?}, {filters} x {size}, {stride}: {access:?}");
                match (access.memory, access.array.as_str()) {
                    // Rows of an image begin anywhere in a sector, and every other element of one is read for a stride of 2.
                    (Memory::Global, "X") => {
                        let least = if stride == 1 { 0.6 } else { 0.35 };
                        assert!(access.share_used() > least, "{place}");
                    }
                    _ => assert_eq!(access.excess(), 1.0, "{place}"),
                }
            }
        }
    }
}

/// Sums of the rows of a matrix.
fn row_sums(rows: usize, columns: usize) -> String {
    format!(
        r#"
    @T.prim_func
    def f(A: T.Buffer(({rows}, {columns}), "float32"), B: T.Buffer(({rows},), "float32")):
        for i, k in T.grid({rows}, {columns}):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
"#
    )
}

#[test]
fn default_kernels_of_odd_sizes_meet_in_no_bank() {
    let halves = matmul(512, 512, 512, false).replace("\"float32\"), B", "\"float16\"), B");
    let halves = halves
        .replace("\"float32\"), C", "\"float16\"), C")
        .replace(
            "A[vi, vk] * B[vk, vj]",
            "T.Cast(\"float32\", A[vi, vk]) * T.Cast(\"float32\", B[vk, vj])",
        );
    let programs = [
        convolution(512, 7, 1),
        convolution(64, 10, 1),
        matmul(256, 10, 128, false),
        matmul(127, 311, 509, false),
        matmul(127, 311, 509, true),
        halves,
        row_sums(65536, 16),
        row_sums(65536, 33),
        row_sums(1000, 1000),
    ];
    for class in CLASSES {
        for (at, program) in programs.iter().enumerate() {
            let costs = costs(program, class, &[]);
            let accesses = costs.iter().flat_map(|cost| &cost.accesses);
            for access in accesses.filter(|access| access.memory == Memory::Shared) {
                assert_eq!(access.excess(), 1.0, "{class:?}, program {at}: {access:?}");
            }
        }
    }
}

/// `C = A · B` of batches, rows, columns and steps as these are written, and nothing else.
fn products(dims: &str, [batch, m, n, k]: [&str; 4], dtype: &str) -> String {
    format!(
        r#"
    @T.prim_func
    def f(a: T.handle, b: T.handle, c: T.handle):
        {dims}
        A = T.match_buffer(a, ({batch}, {m}, {k}), "{dtype}")
        B = T.match_buffer(b, ({batch}, {k}, {n}), "{dtype}")
        C = T.match_buffer(c, ({batch}, {m}, {n}), "float32")
        for b, i, j, k in T.grid({batch}, {m}, {n}, {k}):
            with T.block("C"):
                vb, vi, vj, vk = T.axis.remap("SSSR", [b, i, j, k])
                with T.init():
                    C[vb, vi, vj] = T.float32(0)
                C[vb, vi, vj] = C[vb, vi, vj] + T.Cast("float32", A[vb, vi, vk]) * T.Cast("float32", B[vb, vk, vj])
"#
    )
}

#[test]
fn products_of_odd_and_open_sizes_use_half_of_each_sector() {
    let open = "m, n, kk = T.int64(), T.int64(), T.int64()";
    let programs = [
        (matmul(127, 311, 509, false), vec![]),
        (matmul(127, 311, 509, true), vec![]),
        (matmul(1000, 1001, 1000, false), vec![]),
        (matmul(513, 513, 513, false), vec![]),
        (products("", ["5", "77", "101", "63"], "float32"), vec![]),
        (
            products(open, ["1", "m", "n", "kk"], "float32"),
            vec![300; 3],
        ),
    ];
    for class in CLASSES {
        for (at, (program, dims)) in programs.iter().enumerate() {
            let costs = costs(program, class, dims);
            for access in costs.iter().flat_map(|cost| &cost.accesses) {
                let place = format!("{class:?}, program {at}: {access:?}");
                match access.memory {
                    // Eight neighbours begin anywhere in a sector: in one of eight cases they are one, else parts of two.
                    Memory::Global => assert!(access.share_used() > 0.52, "{place}"),
                    Memory::Shared => assert_eq!(access.excess(), 1.0, "{place}"),
                }
            }
        }
    }
}

#[test]
fn products_of_halves_without_fragments_use_whole_sectors() {
    let program = products("", ["1", "512", "512", "512"], "float16");
    for class in CLASSES {
        let costs = costs(&program, class, &[]);
        for access in costs.iter().flat_map(|cost| &cost.accesses) {
            assert_eq!(access.excess(), 1.0, "{class:?}: {access:?}");
        }
    }
}

#[test]
fn convolutions_of_odd_images_and_channels_store_half_of_each_sector() {
    for class in CLASSES {
        for (channels, filters, size) in [(9, 48, 31), (64, 64, 29)] {
            let costs = costs(&convolution_of(channels, filters, size, 1), class, &[]);
            for access in costs.iter().flat_map(|cost| &cost.accesses) {
                let place = format!("{class:?}, {channels} x {size}: {access:?}");
                if access.array == "Y" && access.memory == Memory::Global {
                    assert!(access.share_used() > 0.52, "{place}");
                }
            }
        }
    }
}

#[test]
fn a_convolution_takes_about_as_long_as_its_arithmetic() {
    let model = GpuModel::of(GpuClass::Nvidia);
    let costs = costs(&convolution(64, 56, 1), GpuClass::Nvidia, &[]);
    // The sum is cut into slices, since 49 tiles would leave cores idle half of the time; the second kernel adds these.
    let product = predict(&costs[0], &model);
    assert!(product.busy > 0.8, "{}", product.busy);
    let part = |limit: Limit| {
        let mut parts = product.parts.iter();
        parts
            .find(|(of, _)| *of == limit)
            .map_or(0.0, |(_, seconds)| *seconds)
    };
    assert_eq!(product.limit, Limit::Arithmetic);
    // Floats took 19.5 us with tiles in registers and an image that is padded before. Integers come on top, and take no longer than floats did.
    let integers = part(Limit::Integers);
    assert!(part(Limit::Arithmetic) - integers < 11e-6, "{product:?}");
    assert!(integers < 19.5e-6, "{product:?}");
}

#[test]
fn long_sums_of_few_results_keep_the_cores_busy() {
    for class in CLASSES {
        let model = GpuModel::of(class);
        for (m, n, k) in [(32, 64, 8192), (2, 64, 8192), (64, 64, 4096)] {
            for transposed in [false, true] {
                let costs = costs(&matmul(m, n, k, transposed), class, &[]);
                let place = format!("{class:?}, {m} x {n} x {k}, {transposed}");
                let tiles = m.div_ceil(32) * n.div_ceil(32);
                if m > 8 && tiles < model.cores as usize / 2 {
                    assert_eq!(costs.len(), 2, "{place}");
                }
                for access in costs.iter().flat_map(|cost| &cost.accesses) {
                    let is_part = m <= 8 && transposed && access.array.starts_with("C");
                    if !is_part || access.memory == Memory::Shared {
                        assert_eq!(access.excess(), 1.0, "{place}: {access:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn default_transposes_meet_in_no_bank_and_read_and_write_whole_sectors() {
    let text = r#"
    @T.prim_func
    def f(A: T.Buffer((4, 256, 512), "float32"), B: T.Buffer((4, 512, 256), "float32")):
        for b, i, j in T.grid(4, 512, 256):
            with T.block("B"):
                vb, vi, vj = T.axis.remap("SSS", [b, i, j])
                B[vb, vi, vj] = T.max(A[vb, vj, vi], T.float32(0))
"#;
    for class in [
        GpuClass::Nvidia,
        GpuClass::Amd,
        GpuClass::Intel,
        GpuClass::Apple,
        GpuClass::Mobile,
    ] {
        for cost in costs(text, class, &[]) {
            for access in &cost.accesses {
                assert_eq!(access.excess(), 1.0, "{class:?}: {access:?}");
            }
        }
    }
}

#[test]
fn default_sums_of_columns_meet_in_no_bank_and_read_whole_sectors() {
    let text = r#"
    @T.prim_func
    def f(A: T.Buffer((512, 256), "float32"), B: T.Buffer((256,), "float32")):
        for i, k in T.grid(256, 512):
            with T.block("B"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vk, vi]
"#;
    for class in [
        GpuClass::Nvidia,
        GpuClass::Amd,
        GpuClass::Intel,
        GpuClass::Apple,
    ] {
        let cost = &costs(text, class, &[])[0];
        assert_eq!(cost.threads, 256, "{class:?}");
        for access in &cost.accesses {
            assert_eq!(access.excess(), 1.0, "{class:?}: {access:?}");
        }
    }
}
