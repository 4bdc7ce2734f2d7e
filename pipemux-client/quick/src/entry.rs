//! Where the program begins, and what moves memory until the C library runs.

/// Defines where a statically linked program begins: `pipemux_entry`. It calls a function such as
/// [`before_main`](crate::before_main) with the stack as the system made it, and then goes on at
/// the C library's `_start` as if nothing had been before.
///
/// The compiler calls `memcpy` and its like. The C library chooses their code when it starts, so
/// that they lead nowhere before. The linker's option `--wrap` makes each call reach the functions
/// here instead, which choose by themselves.
#[macro_export]
macro_rules! entry {
    ($before_main:path) => {
        core::arch::global_asm!(
            ".pushsection .bss.pipemux_started,\"aw\",@nobits",
            "pipemux_started: .zero 1",
            ".popsection",
            ".pushsection .text.pipemux_entry,\"ax\",@progbits",
            // The C library finds stack pointer and rdx as the system left them.
            ".globl pipemux_entry",
            "pipemux_entry:",
            "mov r12, rsp",
            "mov r13, rdx",
            "mov rdi, rsp",
            "and rsp, -16",
            "call {before_main}",
            "mov byte ptr [rip + pipemux_started], 1",
            "mov rdx, r13",
            "mov rsp, r12",
            "jmp _start",
            ".globl __wrap_memcpy",
            "__wrap_memcpy:",
            "cmp byte ptr [rip + pipemux_started], 0",
            "jne __real_memcpy",
            "2: mov rax, rdi",
            "mov rcx, rdx",
            "rep movsb",
            "ret",
            ".globl __wrap_memmove",
            "__wrap_memmove:",
            "cmp byte ptr [rip + pipemux_started], 0",
            "jne __real_memmove",
            // Backwards where the end would overwrite what is still to be moved.
            "mov rax, rdi",
            "sub rax, rsi",
            "cmp rax, rdx",
            "jae 2b",
            "mov rax, rdi",
            "mov rcx, rdx",
            "lea rdi, [rdi + rdx - 1]",
            "lea rsi, [rsi + rdx - 1]",
            "std",
            "rep movsb",
            "cld",
            "ret",
            ".globl __wrap_memset",
            "__wrap_memset:",
            "cmp byte ptr [rip + pipemux_started], 0",
            "jne __real_memset",
            "mov r8, rdi",
            "mov eax, esi",
            "mov rcx, rdx",
            "rep stosb",
            "mov rax, r8",
            "ret",
            ".globl __wrap_bcmp",
            "__wrap_bcmp:",
            "cmp byte ptr [rip + pipemux_started], 0",
            "jne __real_bcmp",
            "jmp 3f",
            ".globl __wrap_memcmp",
            "__wrap_memcmp:",
            "cmp byte ptr [rip + pipemux_started], 0",
            "jne __real_memcmp",
            "3: xor eax, eax",
            "mov rcx, rdx",
            // Equal, if nothing is to be compared.
            "cmp eax, eax",
            "repe cmpsb",
            "je 4f",
            "movzx eax, byte ptr [rdi - 1]",
            "movzx ecx, byte ptr [rsi - 1]",
            "sub eax, ecx",
            "4: ret",
            ".globl __wrap_strlen",
            "__wrap_strlen:",
            "cmp byte ptr [rip + pipemux_started], 0",
            "jne __real_strlen",
            "mov rax, rdi",
            "5: cmp byte ptr [rax], 0",
            "je 6f",
            "inc rax",
            "jmp 5b",
            "6: sub rax, rdi",
            "ret",
            ".popsection",
            before_main = sym $before_main,
        );
    };
}
