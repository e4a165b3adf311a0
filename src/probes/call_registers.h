/* SPDX-License-Identifier: MIT */
/* Members of struct pt_regs with the number of a system call and three of its arguments
 * (syscall(2)). On other machines the names are empty, and no struct has such members. */
#ifndef PROBES_CALL_REGISTERS_H
#define PROBES_CALL_REGISTERS_H

#if defined __x86_64__ && defined __LP64__
#define CALL_NUMBER     "orig_ax"
#define FIRST_ARGUMENT  "di"
#define SECOND_ARGUMENT "si"
#define FIFTH_ARGUMENT  "r8"
enum { SECOND_AT = 0, FIFTH_AT = 0 }; /* bytes after the beginning of the member */
#elif defined __aarch64__ && defined __LP64__
#define CALL_NUMBER     "syscallno"
#define FIRST_ARGUMENT  "orig_x0"
#define SECOND_ARGUMENT "regs"
#define FIFTH_ARGUMENT  "regs"
enum { SECOND_AT = 8, FIFTH_AT = 32 };
#elif defined __riscv && __riscv_xlen == 64
#define CALL_NUMBER     "a7"
#define FIRST_ARGUMENT  "orig_a0"
#define SECOND_ARGUMENT "a1"
#define FIFTH_ARGUMENT  "a4"
enum { SECOND_AT = 0, FIFTH_AT = 0 };
#else
#define CALL_NUMBER     ""
#define FIRST_ARGUMENT  ""
#define SECOND_ARGUMENT ""
#define FIFTH_ARGUMENT  ""
enum { SECOND_AT = 0, FIFTH_AT = 0 };
#endif

#endif
