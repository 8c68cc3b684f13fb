import { elfExecutable, type MachineCode } from "#machine/elf-executable.ts";

interface Restrictions {
  /** The filter of system calls for its processes: `struct sock_filter[]` in bytes; see `seccomp-filter.ts`. */
  readonly filter: Buffer;
  /** Whether abstract Unix sockets of other processes are unreachable. Needs Linux 6.12 with Landlock. */
  readonly closesAbstractSockets: boolean;
}

/**
 * Returns a program that runs the command in its arguments with restrictions that neither the command nor its children
 * can remove, as the bytes of a static ELF executable; undefined for an architecture that is not in the table below.
 *
 * Node cannot call prctl(2), and util-linux loads filters only since 2.40. The program is used with bubblewrap, too,
 * because its `--seccomp` does not pass SECCOMP_FILTER_FLAG_SPEC_ALLOW: before Linux 5.16 a filter without this flag
 * makes every program slower, by the mitigation of Speculative Store Bypass. The program is:
 *
 *     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
 *     if (closesAbstractSockets)
 *       landlock_restrict_self(landlock_create_ruleset(&{ .scoped = … }, 24, 0), 0);
 *     seccomp(SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &{ length, filter });
 *     execve(argv[1], argv + 1, envp);
 *
 * The command is an absolute path. When a step fails, the program writes a line to stderr and exits with the number of the error.
 */
export function restrictingProgram(
  architecture: string,
  restrictions: Restrictions,
): Buffer | undefined {
  const machine = machines[architecture];
  return machine && elfExecutable(machine, dataOf(restrictions));
}

/** The offsets of the data's parts, for the instructions. */
const dataAt = { scoped: 16, filterLength: 24, complaint: 32, filter: 96 } as const;

/** LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET. */
const scopeAbstractSockets = 1n;

const complaint = `${"grange: the system calls of a job cannot be restricted".padEnd(63)}\n`;

/** `struct landlock_ruleset_attr` (three words of 64 bits), the number of the filter's instructions, 64 bytes of text, the filter. */
function dataOf({ filter, closesAbstractSockets }: Restrictions): Buffer {
  const head = Buffer.alloc(dataAt.filter);
  if (closesAbstractSockets) head.writeBigUInt64LE(scopeAbstractSockets, dataAt.scoped);
  head.writeBigUInt64LE(BigInt(filter.length / 8), dataAt.filterLength);
  head.write(complaint, dataAt.complaint);
  return Buffer.concat([head, filter]);
}

/**
 * `data` follows the last instruction; instructions address it by its distance, so that they do not depend on their
 * load address.
 */
const machines: Readonly<Record<string, MachineCode>> = {
  x64: {
    elfMachine: 62,
    code: [
      ["488d1da6000000", "lea rbx, [rip + 166]       data"],
      ["b89d000000", "mov eax, 157               prctl"],
      ["bf26000000", "mov edi, 38                PR_SET_NO_NEW_PRIVS"],
      ["be01000000", "mov esi, 1"],
      ["31d2", "xor edx, edx"],
      ["4531d2", "xor r10d, r10d"],
      ["4531c0", "xor r8d, r8d"],
      ["0f05", "syscall"],
      ["85c0", "test eax, eax"],
      ["7567", "jnz failed"],
      ["48837b1000", "cmp qword [rbx + 16], 0    scoped"],
      ["7424", "je filter"],
      ["b8bc010000", "mov eax, 444               landlock_create_ruleset"],
      ["4889df", "mov rdi, rbx"],
      ["be18000000", "mov esi, 24                its size"],
      ["31d2", "xor edx, edx"],
      ["0f05", "syscall"],
      ["85c0", "test eax, eax"],
      ["784b", "js failed"],
      ["89c7", "mov edi, eax               the ruleset; closed by execve"],
      ["b8be010000", "mov eax, 446               landlock_restrict_self"],
      ["31f6", "xor esi, esi"],
      ["0f05", "syscall"],
      ["85c0", "test eax, eax"],
      ["753c", "jnz failed"],
      ["488d4360", "filter: lea rax, [rbx + 96]"],
      ["50", "push rax                   struct sock_fprog, on the stack"],
      ["ff7318", "push qword [rbx + 24]      its length"],
      ["4889e2", "mov rdx, rsp"],
      ["b83d010000", "mov eax, 317               seccomp"],
      ["bf01000000", "mov edi, 1                 SECCOMP_SET_MODE_FILTER"],
      ["be04000000", "mov esi, 4                 SECCOMP_FILTER_FLAG_SPEC_ALLOW"],
      ["0f05", "syscall"],
      ["4883c410", "add rsp, 16"],
      ["85c0", "test eax, eax"],
      ["7518", "jnz failed"],
      ["488d742410", "lea rsi, [rsp + 16]        argv + 1"],
      ["488b3e", "mov rdi, [rsi]"],
      ["488b0c24", "mov rcx, [rsp]             argc"],
      ["488d54cc10", "lea rdx, [rsp + rcx*8 + 16] envp"],
      ["b83b000000", "mov eax, 59                execve"],
      ["0f05", "syscall"],
      ["f7d8", "failed: neg eax"],
      ["89c5", "mov ebp, eax               the number of the error"],
      ["b801000000", "mov eax, 1                 write"],
      ["bf02000000", "mov edi, 2                 stderr"],
      ["488d7320", "lea rsi, [rbx + 32]        the complaint"],
      ["ba40000000", "mov edx, 64"],
      ["0f05", "syscall"],
      ["89ef", "mov edi, ebp"],
      ["b83c000000", "mov eax, 60                exit"],
      ["0f05", "syscall"],
    ],
  },
  arm64: {
    elfMachine: 183,
    code: [
      ["f3050010", "adr x19, . + 188           data"],
      ["c00480d2", "mov x0, #38                PR_SET_NO_NEW_PRIVS"],
      ["210080d2", "mov x1, #1"],
      ["020080d2", "mov x2, #0"],
      ["030080d2", "mov x3, #0"],
      ["040080d2", "mov x4, #0"],
      ["e81480d2", "mov x8, #167               prctl"],
      ["010000d4", "svc #0"],
      ["c00300b5", "cbnz x0, failed"],
      ["690a40f9", "ldr x9, [x19, #16]         scoped"],
      ["690100b4", "cbz x9, filter"],
      ["e00313aa", "mov x0, x19"],
      ["010380d2", "mov x1, #24                its size"],
      ["020080d2", "mov x2, #0"],
      ["883780d2", "mov x8, #444               landlock_create_ruleset"],
      ["010000d4", "svc #0                     the ruleset; closed by execve"],
      ["c002f8b7", "tbnz x0, #63, failed"],
      ["010080d2", "mov x1, #0"],
      ["c83780d2", "mov x8, #446               landlock_restrict_self"],
      ["010000d4", "svc #0"],
      ["400200b5", "cbnz x0, failed"],
      ["690e40f9", "filter: ldr x9, [x19, #24] its length"],
      ["6a820191", "add x10, x19, #96"],
      ["e92bbfa9", "stp x9, x10, [sp, #-16]!   struct sock_fprog, on the stack"],
      ["200080d2", "mov x0, #1                 SECCOMP_SET_MODE_FILTER"],
      ["810080d2", "mov x1, #4                 SECCOMP_FILTER_FLAG_SPEC_ALLOW"],
      ["e2030091", "mov x2, sp"],
      ["a82280d2", "mov x8, #277               seccomp"],
      ["010000d4", "svc #0"],
      ["ff430091", "add sp, sp, #16"],
      ["000100b5", "cbnz x0, failed"],
      ["e90340f9", "ldr x9, [sp]               argc"],
      ["e1430091", "add x1, sp, #16            argv + 1"],
      ["200040f9", "ldr x0, [x1]"],
      ["e26f298b", "add x2, sp, x9, lsl #3"],
      ["42400091", "add x2, x2, #16            envp"],
      ["a81b80d2", "mov x8, #221               execve"],
      ["010000d4", "svc #0"],
      ["f40300cb", "failed: neg x20, x0        the number of the error"],
      ["400080d2", "mov x0, #2                 stderr"],
      ["61820091", "add x1, x19, #32           the complaint"],
      ["020880d2", "mov x2, #64"],
      ["080880d2", "mov x8, #64                write"],
      ["010000d4", "svc #0"],
      ["e00314aa", "mov x0, x20"],
      ["a80b80d2", "mov x8, #93                exit"],
      ["010000d4", "svc #0"],
    ],
  },
};
