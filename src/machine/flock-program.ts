import { elfExecutable, type MachineCode } from "./elf-executable.ts";

/**
 * Returns a program that locks its file 3, as the bytes of a static ELF executable. Returns undefined for an
 * architecture that is not in the table below.
 *
 * Node has neither flock(2) nor fcntl(2), and flock(1) is not on every machine. The program is:
 *
 *     exit(-flock(3, LOCK_EX | LOCK_NB));
 *
 * Its exit code is 0, or the number of the error. The lock belongs to the open file, which the program shares with the
 * process that started it: the lock remains after the program ends.
 */
export function flockProgram(architecture: string): Buffer | undefined {
  const machine = machines[architecture];
  return machine && elfExecutable(machine);
}

const machines: Readonly<Record<string, MachineCode>> = {
  x64: {
    elfMachine: 62,
    code: [
      ["b849000000", "mov eax, 73          flock"],
      ["bf03000000", "mov edi, 3           the file"],
      ["be06000000", "mov esi, 6           LOCK_EX | LOCK_NB"],
      ["0f05", "syscall"],
      ["f7d8", "neg eax"],
      ["89c7", "mov edi, eax         the exit code"],
      ["b83c000000", "mov eax, 60          exit"],
      ["0f05", "syscall"],
    ],
  },
  arm64: {
    elfMachine: 183,
    code: [
      ["600080d2", "mov x0, #3           the file"],
      ["c10080d2", "mov x1, #6           LOCK_EX | LOCK_NB"],
      ["080480d2", "mov x8, #32          flock"],
      ["010000d4", "svc #0"],
      ["e00300cb", "neg x0, x0           the exit code"],
      ["a80b80d2", "mov x8, #93          exit"],
      ["010000d4", "svc #0"],
    ],
  },
};
