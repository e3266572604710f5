//! Machine code as text.

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};

use super::Code;

/// The instructions in Intel's syntax, one a line, with the offset that each starts at.
pub fn disassemble(code: &Code) -> String {
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_rip_relative_addresses(true);
    formatter.options_mut().set_branch_leading_zeros(false);
    let bytes = &code.bytes[..code.instructions];
    let mut decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut text = String::new();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        let mut line = String::new();
        formatter.format(&instruction, &mut line);
        text.push_str(&format!("{:6x}  {line}\n", instruction.ip()));
    }
    text
}
