//! The table of instructions, decoded back.

use iced_x86::{Code, Decoder, DecoderOptions, Formatter, IntelFormatter, OpCodeOperandKind};
use regalloc2::PReg;

use super::Isa;
use super::assemble::{Address, Assembler, Operand};
use super::forms::{Op, ROWS, form};
use super::inst::{GENERAL, Lane, MASK, VECTOR, Width};

/// Operands that the instruction takes, each in a register that only a long encoding reaches; memory where it takes that alone, or
/// wherever it may be if `memory`.
fn operands(code: Code, isa: Isa, memory: bool) -> Vec<Operand> {
    use OpCodeOperandKind as Of;
    let info = code.op_code();
    let last = isa.registers() - 1;
    let address = Operand::Mem(Address {
        base: 12,
        index: Some((13, 4)),
        disp: 0x40,
    });
    (0..info.op_count())
        .map(|i| match info.op_kind(i) {
            Of::imm8 => Operand::Imm(1),
            Of::mem => address,
            Of::xmm_or_mem | Of::ymm_or_mem | Of::zmm_or_mem if memory => address,
            Of::k_reg | Of::k_rm | Of::k_vvvv => Operand::Reg(PReg::new(3, MASK)),
            _ => Operand::Reg(PReg::new(last - i as usize, VECTOR)),
        })
        .collect()
}

fn text(bytes: &[u8], code: Code) -> String {
    let mut decoder = Decoder::new(64, bytes, DecoderOptions::NONE);
    let instruction = decoder.decode();
    assert_eq!(instruction.code(), code);
    assert_eq!(instruction.len(), bytes.len(), "{code:?}");
    let mut text = String::new();
    IntelFormatter::new().format(&instruction, &mut text);
    text
}

/// The name of a register as an instruction with registers of this width has it.
fn is_named(text: &str, width: Width) -> bool {
    let name = match width {
        Width::X => "xmm",
        Width::Y => "ymm",
        Width::Z => "zmm",
    };
    text.contains(name)
}

#[test]
fn every_form_decodes_to_itself() {
    let mut forms = 0;
    for &(op, lane) in ROWS {
        for isa in [Isa::Avx2, Isa::Avx512, Isa::Avx512Vnni] {
            for width in [Width::X, Width::Y, Width::Z] {
                let Some(code) = form(isa, op, lane, width) else {
                    continue;
                };
                for memory in [false, true] {
                    let operands = operands(code, isa, memory);
                    let mut assembler = Assembler::new(0);
                    assembler
                        .inst(code, &operands)
                        .unwrap_or_else(|e| panic!("{op:?} {lane:?} {isa:?} {width:?}: {e}"));
                    let (bytes, _) = assembler.finish(&[]);
                    let text = text(&bytes, code);
                    assert!(memory || is_named(&text, width), "{op:?} {lane:?}: {text}");
                    forms += 1;
                }
            }
        }
    }
    assert!(forms > 700, "{forms}");
}

#[test]
fn forms_are_the_instructions_that_their_names_say() {
    let cases = [
        (
            Isa::Avx2,
            Op::Add,
            Lane::F32,
            Width::Y,
            "vaddps ymm15,ymm14,ymm13",
        ),
        (
            Isa::Avx512,
            Op::Fma231,
            Lane::F32,
            Width::Z,
            "vfmadd231ps zmm31,zmm30,zmm29",
        ),
        (
            Isa::Avx512Vnni,
            Op::DotBytes,
            Lane::I32,
            Width::Z,
            "vpdpbusd zmm31,zmm30,zmm29",
        ),
        (
            Isa::Avx2,
            Op::MulAddPairs,
            Lane::I16,
            Width::Y,
            "vpmaddwd ymm15,ymm14,ymm13",
        ),
        (
            Isa::Avx512,
            Op::BroadcastLoad,
            Lane::F32,
            Width::Z,
            "vbroadcastss zmm31,xmm30",
        ),
        (
            Isa::Avx512,
            Op::Cmp,
            Lane::F32,
            Width::Z,
            "vcmpeqps k3,zmm30,zmm29",
        ),
        (
            Isa::Avx512,
            Op::MaskToLanes,
            Lane::I32,
            Width::Z,
            "vpmovm2d zmm31,k3",
        ),
        (
            Isa::Avx2,
            Op::Blend,
            Lane::I8,
            Width::Y,
            "vpblendvb ymm15,ymm14,ymm13,ymm12",
        ),
        (
            Isa::Avx2,
            Op::Blend,
            Lane::F32,
            Width::Y,
            "vblendvps ymm15,ymm14,ymm13,ymm12",
        ),
        (
            Isa::Avx2,
            Op::PermuteBy,
            Lane::F32,
            Width::Y,
            "vpermps ymm15,ymm14,ymm13",
        ),
        (
            Isa::Avx512,
            Op::Ternary,
            Lane::I32,
            Width::Z,
            "vpternlogd zmm31,zmm30,zmm29,1",
        ),
        (
            Isa::Avx2,
            Op::ToHalf,
            Lane::F32,
            Width::Y,
            "vcvtps2ph xmm15,ymm14,1",
        ),
        (
            Isa::Avx512,
            Op::SignExtend8,
            Lane::I64,
            Width::Z,
            "vpmovsxbq zmm31,xmm30",
        ),
    ];
    for (isa, op, lane, width, want) in cases {
        let code = form(isa, op, lane, width).expect("a form");
        let mut assembler = Assembler::new(0);
        assembler
            .inst(code, &operands(code, isa, false))
            .expect("encodes");
        // Words of the number 1 follow some predicates.
        let got = text(&assembler.finish(&[]).0, code);
        assert!(
            got == want || got.replace("lt", "eq") == want,
            "{got}, not {want}"
        );
    }
}

#[test]
fn masks_stand_behind_the_operands() {
    let (mask, vector) = (PReg::new(3, MASK), PReg::new(17, VECTOR));
    let address = Operand::Mem(Address {
        base: 12,
        index: Some((13, 4)),
        disp: 0x40,
    });
    let cases = [
        (
            Op::LoadMasked,
            [Operand::Reg(vector), address],
            "vmovups zmm17{k3}{z},[r12+r13*4+40h]",
        ),
        (
            Op::StoreMasked,
            [address, Operand::Reg(vector)],
            "vmovups [r12+r13*4+40h]{k3},zmm17",
        ),
        (
            Op::BlendMasked,
            [Operand::Reg(vector), Operand::Reg(vector)],
            "vblendmps zmm17{k3},zmm17,zmm17",
        ),
    ];
    for (op, [a, b], want) in cases {
        let code = form(Isa::Avx512, op, Lane::F32, Width::Z).expect("a form");
        let mut assembler = Assembler::new(0);
        let mut operands = vec![a, b, Operand::Reg(mask)];
        if op == Op::BlendMasked {
            operands.insert(2, Operand::Reg(vector));
        }
        assembler.inst(code, &operands).expect("encodes");
        assert_eq!(text(&assembler.finish(&[]).0, code), want);
    }
}

#[test]
fn general_registers_have_names_of_each_width() {
    let reg = |number| Operand::Reg(PReg::new(number, GENERAL));
    let cases = [
        (Code::Movzx_r32_rm8, vec![reg(6), reg(7)], "movzx esi,dil"),
        (Code::Mov_r64_rm64, vec![reg(15), reg(0)], "mov r15,rax"),
        (
            Code::Mov_r32_imm32,
            vec![reg(9), Operand::Imm(7)],
            "mov r9d,7",
        ),
        (Code::Sete_rm8, vec![reg(5)], "sete bpl"),
        (Code::Movsx_r64_rm16, vec![reg(1), reg(2)], "movsx rcx,dx"),
    ];
    for (code, operands, want) in cases {
        let mut assembler = Assembler::new(0);
        assembler.inst(code, &operands).expect("encodes");
        assert_eq!(text(&assembler.finish(&[]).0, code), want);
    }
}
