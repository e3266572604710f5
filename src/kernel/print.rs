//! Kernel IR as text, for dumps and `weftile show --stage kernel`. It is not parsed back.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    Access, Array, ArrayId, ArrayTile, BufferRef, Expr, ForKind, FragmentId, FragmentOp, HostExpr,
    Kernel, LoweredFunc, Shuffle, Space, Stmt, Ty, VarId,
};
use crate::support::Id;
use crate::tensor::scalar::BinOp;

impl Display for LoweredFunc {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "func {}({})", self.name, self.dims.join(", "))?;
        for (index, param) in self.params.iter().enumerate() {
            let shape: Vec<String> = param.shape.iter().map(|e| self.host(e)).collect();
            let written = if param.written { " written" } else { "" };
            let (name, dtype) = (&param.name, param.dtype);
            writeln!(
                f,
                "  param {index} {name}: {dtype}[{}]{written}",
                shape.join(", ")
            )?;
        }
        for (index, temp) in self.temps.iter().enumerate() {
            let len = self.host(&temp.len);
            writeln!(f, "  temp {index} {}: {}[{len}]", temp.name, temp.dtype)?;
        }
        for fact in &self.requires {
            let value = self.host(&fact.value);
            writeln!(f, "  requires {value} <= {} ({})", fact.limit, fact.what)?;
        }
        for assertion in &self.asserts {
            let holds = self.host(&assertion.holds);
            writeln!(f, "  asserts {holds} ({})", assertion.message)?;
        }
        for kernel in &self.kernels {
            writeln!(f)?;
            f.write_str(&kernel.shown(&self.dims))?;
        }
        Ok(())
    }
}

impl LoweredFunc {
    fn host(&self, expr: &HostExpr) -> String {
        expr.shown(&self.dims)
    }
}

impl Display for Ty {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.lanes {
            1 => write!(f, "{}", self.scalar),
            lanes => write!(f, "{}x{lanes}", self.scalar),
        }
    }
}

impl HostExpr {
    /// The expression with the names of the dims.
    pub fn shown(&self, dims: &[String]) -> String {
        match self {
            Self::Const(value) => value.to_string(),
            Self::Dim(index) => dims
                .get(*index)
                .cloned()
                .unwrap_or_else(|| format!("dim{index}")),
            Self::Binary(op, a, b) => binary(*op, &a.shown(dims), &b.shown(dims)),
            Self::Select(c, a, b) => {
                let parts = [c, a, b].map(|e| e.shown(dims));
                format!("select({})", parts.join(", "))
            }
        }
    }
}

fn binary(op: BinOp, a: &str, b: &str) -> String {
    let symbol = match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Mod => "rem",
        BinOp::FloorDiv => "//",
        BinOp::FloorMod => "%",
        BinOp::Min => return format!("min({a}, {b})"),
        BinOp::Max => return format!("max({a}, {b})"),
        BinOp::Eq => "==",
        BinOp::Ne => "!=",
        BinOp::Lt => "<",
        BinOp::Le => "<=",
        BinOp::Gt => ">",
        BinOp::Ge => ">=",
        BinOp::And => "and",
        BinOp::Or => "or",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
    };
    format!("({a} {symbol} {b})")
}

/// Text without the parentheses around the whole.
fn bare(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|t| t.strip_suffix(')'));
    let mut depth = 0i32;
    let closes = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    };
    match inner {
        Some(inner) if !inner.chars().any(closes) => inner,
        _ => text,
    }
}

impl Kernel {
    /// The kernel as text, with the names of the dims.
    pub fn shown(&self, dims: &[String]) -> String {
        let printer = Printer { kernel: self, dims };
        printer.kernel()
    }

    /// An expression of the kernel as its print shows it.
    pub fn expr_text(&self, e: &Expr) -> String {
        let printer = Printer {
            kernel: self,
            dims: &[],
        };
        bare(&printer.expr(e)).to_owned()
    }
}

/// Prints one kernel.
struct Printer<'a> {
    kernel: &'a Kernel,
    dims: &'a [String],
}

impl Printer<'_> {
    fn kernel(&self) -> String {
        let kernel = self.kernel;
        let mut out = format!("kernel {}  # {}\n", kernel.name, kernel.comment);
        let mut line = |text: String| {
            out.push_str("  ");
            out.push_str(&text);
            out.push('\n');
        };
        if let Some(launch) = &kernel.launch {
            let grid: Vec<String> = launch.grid.iter().map(|e| self.host(e)).collect();
            line(format!(
                "launch grid [{}] block {:?}",
                grid.join(", "),
                launch.block
            ));
            if launch.times != HostExpr::Const(1) {
                line(format!("runs {}", self.host(&launch.times)));
            }
        }
        for (var, value) in &kernel.scalars {
            let ty = kernel.vars[*var].ty;
            line(format!(
                "scalar {}: {ty} = {}",
                self.var(*var),
                self.host(value)
            ));
        }
        for (id, array) in kernel.arrays.iter() {
            line(self.array(id, array));
        }
        let proof = if kernel.in_bounds {
            "proved"
        } else {
            "checked"
        };
        let (flops, bytes) = (self.host(&kernel.flops), self.host(&kernel.bytes));
        line(format!(
            "cost {flops} flop, {bytes} bytes; accesses {proof}"
        ));
        self.block(&kernel.body, 1, &mut out);
        out
    }

    fn array(&self, id: ArrayId, array: &Array) -> String {
        let space = match array.space {
            Space::Global { buffer, access } => {
                let buffer = match buffer {
                    BufferRef::Param(index) => format!("param {index}"),
                    BufferRef::Temp(index) => format!("temp {index}"),
                };
                let access = match access {
                    Access::Read => "read",
                    Access::Write => "write",
                    Access::ReadWrite => "read write",
                };
                format!("global {access} {buffer}")
            }
            Space::Shared => "shared".to_owned(),
            Space::Local => "local".to_owned(),
        };
        let ty = Ty {
            scalar: array.dtype,
            lanes: array.vector,
        };
        let name = self.array_name(id);
        format!(
            "array {name}: {ty}, {} elements, {space}",
            self.host(&array.len)
        )
    }

    fn host(&self, expr: &HostExpr) -> String {
        bare(&expr.shown(self.dims)).to_owned()
    }

    /// Names need not be unique: the id tells those apart that are not.
    fn var(&self, id: VarId) -> String {
        let name = &self.kernel.vars[id].name;
        let same = self
            .kernel
            .vars
            .iter()
            .filter(|(_, info)| info.name == *name);
        numbered(name, id.index(), same.count())
    }

    fn array_name(&self, id: ArrayId) -> String {
        let name = &self.kernel.arrays[id].name;
        let same = self
            .kernel
            .arrays
            .iter()
            .filter(|(_, info)| info.name == *name);
        numbered(name, id.index(), same.count())
    }

    fn expr(&self, expr: &Expr) -> String {
        let list = |items: &[Expr]| -> String {
            let items: Vec<String> = items
                .iter()
                .map(|e| bare(&self.expr(e)).to_owned())
                .collect();
            items.join(", ")
        };
        match expr {
            Expr::Int(value, ty) => match ty {
                crate::tensor::ScalarType::Bool => (*value != 0).to_string(),
                _ => value.to_string(),
            },
            Expr::Float(value, _) => format!("{value:?}"),
            Expr::Var(id) => self.var(*id),
            Expr::BlockIdx(axis) => format!("blockIdx.{}", axis_name(*axis)),
            Expr::ThreadIdx(axis) => format!("threadIdx.{}", axis_name(*axis)),
            Expr::Cast(ty, value) => format!("{ty}({})", bare(&self.expr(value))),
            Expr::Bits(scalar, value) => format!("bits<{scalar}>({})", bare(&self.expr(value))),
            Expr::Binary(op, a, b) => binary(*op, &self.expr(a), &self.expr(b)),
            Expr::Not(value) => format!("not {}", self.expr(value)),
            Expr::Any(value) => format!("any({})", bare(&self.expr(value))),
            Expr::Select(c, a, b) => {
                let [c, a, b] = [c, a, b].map(|e| bare(&self.expr(e)).to_owned());
                format!("select({c}, {a}, {b})")
            }
            Expr::Call(intrin, args) => format!("{}({})", intrin.name(), list(args)),
            Expr::Load {
                array,
                index,
                lanes,
                active,
            } => self.access(*array, index, *lanes, active.as_deref()),
            Expr::Splat(value, lanes) => format!("splat{lanes}({})", bare(&self.expr(value))),
            Expr::Ramp(base, stride, lanes) => {
                let [base, stride] = [base, stride].map(|e| bare(&self.expr(e)).to_owned());
                format!("ramp{lanes}({base}, {stride})")
            }
            Expr::Lane(value, lane) => format!("{}.{lane}", self.expr(value)),
            Expr::Pack(items) => format!("pack({})", list(items)),
            Expr::Shuffle(from, value) => {
                let value = self.expr(value);
                match from {
                    Shuffle::Down(by) => format!("shuffle_down({}, {by})", bare(&value)),
                    Shuffle::Xor(by) => format!("shuffle_xor({}, {by})", bare(&value)),
                    Shuffle::First => format!("shuffle_first({})", bare(&value)),
                }
            }
        }
    }

    fn access(&self, array: ArrayId, index: &Expr, lanes: u16, active: Option<&Expr>) -> String {
        let plain = |expr: &Expr| bare(&self.expr(expr)).to_owned();
        let mut text = format!("{}[{}", self.array_name(array), plain(index));
        if lanes > 1 {
            text += &format!(" : {lanes}");
        }
        if let Some(active) = active {
            text += &format!(", first {}", plain(active));
        }
        text + "]"
    }

    fn block(&self, body: &[Stmt], depth: usize, out: &mut String) {
        for stmt in body {
            self.stmt(stmt, depth, out);
        }
    }

    fn stmt(&self, stmt: &Stmt, depth: usize, out: &mut String) {
        let plain = |expr: &Expr| bare(&self.expr(expr)).to_owned();
        let mut line = |text: String| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}{text}", "  ".repeat(depth));
        };
        match stmt {
            Stmt::Let(var, value) => line(format!("let {} = {}", self.var(*var), plain(value))),
            Stmt::Store {
                array,
                index,
                value,
                active,
            } => {
                let lanes = match active {
                    Some(_) => self.kernel.ty(value).lanes,
                    None => 1,
                };
                let to = self.access(*array, index, lanes, active.as_ref());
                line(format!("{to} = {}", plain(value)));
            }
            Stmt::For {
                var,
                min,
                extent,
                kind,
                body,
            } => {
                let kind = match kind {
                    ForKind::Serial => "for",
                    ForKind::Parallel => "parallel for",
                    ForKind::SimdReduction => "simd reduction for",
                };
                let (min, extent) = (plain(min), plain(extent));
                line(format!(
                    "{kind} {} from {min}, {extent} times:",
                    self.var(*var)
                ));
                self.block(body, depth + 1, out);
            }
            Stmt::If {
                cond,
                then,
                otherwise,
            } => {
                line(format!("if {}:", plain(cond)));
                self.block(then, depth + 1, out);
                if !otherwise.is_empty() {
                    let _ = writeln!(out, "{}else:", "  ".repeat(depth));
                    self.block(otherwise, depth + 1, out);
                }
            }
            Stmt::While { cond, body } => {
                line(format!("while {}:", plain(cond)));
                self.block(body, depth + 1, out);
            }
            Stmt::Barrier => line("barrier".to_owned()),
            Stmt::Fragment(op) => {
                let name = |id: FragmentId| self.kernel.fragments[id].name.clone();
                let memory = |tile: &ArrayTile| {
                    let first = self.access(tile.array, &tile.index, 1, None);
                    format!("tile {first}, rows {} apart", tile.stride)
                };
                line(match op {
                    FragmentOp::Clear(id) => format!("fragment {} = 0", name(*id)),
                    FragmentOp::Load(id, tile) => {
                        format!("fragment {} = {}", name(*id), memory(tile))
                    }
                    FragmentOp::MultiplyAdd { sum, a, b } => {
                        format!("fragment {} += {} * {}", name(*sum), name(*a), name(*b))
                    }
                    FragmentOp::Store(id, tile) => {
                        format!("{} = fragment {}", memory(tile), name(*id))
                    }
                });
            }
        }
    }
}

fn numbered(name: &str, index: usize, same: usize) -> String {
    if same > 1 {
        format!("{name}.{index}")
    } else {
        name.to_owned()
    }
}

fn axis_name(axis: u8) -> char {
    match axis {
        0 => 'x',
        1 => 'y',
        _ => 'z',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{ParamInfo, VarInfo};
    use crate::support::Arena;
    use crate::tensor::ScalarType;

    /// `Y[i] = X[i] * 2` for `n` elements.
    fn double() -> LoweredFunc {
        let n = || HostExpr::Dim(0);
        let (mut arrays, mut vars) = (Arena::new(), Arena::new());
        let mut array = |name: &str, param, access| {
            arrays.push(Array {
                name: name.to_owned(),
                dtype: ScalarType::F32,
                len: n(),
                space: Space::Global {
                    buffer: BufferRef::Param(param),
                    access,
                },
                vector: 1,
            })
        };
        let (x, y) = (array("X", 0, Access::Read), array("Y", 1, Access::Write));
        let mut var = |name: &str| {
            vars.push(VarInfo {
                name: name.to_owned(),
                ty: Ty::scalar(ScalarType::I32),
            })
        };
        let (i, extent) = (var("i"), var("i"));
        let at = || Expr::Var(i);
        let load = Expr::Load {
            array: x,
            index: Box::new(at()),
            lanes: 1,
            active: None,
        };
        let two = Expr::Float(2.0, ScalarType::F32);
        let body = vec![Stmt::Store {
            array: y,
            index: at(),
            value: Expr::Binary(BinOp::Mul, Box::new(load), Box::new(two)),
            active: None,
        }];
        let kernel = Kernel {
            name: "double".to_owned(),
            comment: "Y".to_owned(),
            arrays,
            vars,
            fragments: Arena::new(),
            scalars: vec![(extent, n())],
            launch: None,
            body: vec![Stmt::For {
                var: i,
                min: Expr::Int(0, ScalarType::I32),
                extent: Expr::Var(extent),
                kind: ForKind::Parallel,
                body,
            }],
            in_bounds: true,
            flops: n(),
            bytes: HostExpr::binary(BinOp::Mul, n(), HostExpr::Const(8)),
        };
        let param = |name: &str, written| ParamInfo {
            name: name.to_owned(),
            dtype: ScalarType::F32,
            shape: vec![n()],
            written,
        };
        LoweredFunc {
            name: "double".to_owned(),
            dims: vec!["n".to_owned()],
            params: vec![param("X", false), param("Y", true)],
            scalar_params: vec![],
            temps: vec![],
            kernels: vec![kernel],
            requires: vec![],
            asserts: vec![],
        }
    }

    #[test]
    fn a_function_prints() {
        let expected = "\
func double(n)
  param 0 X: float32[n]
  param 1 Y: float32[n] written

kernel double  # Y
  scalar i.1: int32 = n
  array X: float32, n elements, global read param 0
  array Y: float32, n elements, global write param 1
  cost n flop, n * 8 bytes; accesses proved
  parallel for i.0 from 0, i.1 times:
    Y[i.0] = X[i.0] * 2.0
";
        assert_eq!(double().to_string(), expected);
    }

    #[test]
    fn only_parentheses_around_the_whole_are_dropped() {
        assert_eq!(bare("(a + b)"), "a + b");
        assert_eq!(bare("(a) * (b)"), "(a) * (b)");
        assert_eq!(bare("min(a, b)"), "min(a, b)");
    }
}
