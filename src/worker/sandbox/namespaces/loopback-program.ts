import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { elfExecutable, type MachineCode } from "#machine/elf-executable.ts";
import { quoteForShell } from "../../quote-for-shell.ts";

/**
 * Returns a program that activates the loopback interface of its network namespace, as the bytes of a static ELF
 * executable; undefined for an architecture that is not in the table below.
 *
 * In a new network namespace loopback is inactive, and only ioctl(2) or netlink change that. Node can call neither,
 * util-linux has no tool for it, and `ip` and `ifconfig` are often not installed. The program is:
 *
 *     fd = socket(AF_INET, SOCK_DGRAM, 0);
 *     exit(-ioctl(fd, SIOCSIFFLAGS, &{ .ifr_name = "lo", .ifr_flags = IFF_UP }));
 *
 * Its exit code is 0, or the number of the error.
 */
export function loopbackProgram(architecture: string): Buffer | undefined {
  const machine = machines[architecture];
  return machine && elfExecutable(machine, ifreq);
}

/** `struct ifreq` of netdevice(7): 16 bytes of name, and a union whose first two bytes are the flags. */
const ifreq = Buffer.alloc(40);
ifreq.write("lo");
ifreq.writeUInt16LE(1, 16); // IFF_UP

/**
 * `ifreq` follows the last instruction; instructions address it by its distance, so that they do not depend on their
 * load address.
 */
const machines: Readonly<Record<string, MachineCode>> = {
  x64: {
    elfMachine: 62,
    code: [
      ["b829000000", "mov eax, 41          socket"],
      ["bf02000000", "mov edi, 2           AF_INET"],
      ["be02000000", "mov esi, 2           SOCK_DGRAM"],
      ["31d2", "xor edx, edx"],
      ["0f05", "syscall"],
      ["89c7", "mov edi, eax         the socket"],
      ["be14890000", "mov esi, 0x8914      SIOCSIFFLAGS"],
      ["488d1512000000", "lea rdx, [rip + 18]  ifreq"],
      ["b810000000", "mov eax, 16          ioctl"],
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
      ["400080d2", "mov x0, #2           AF_INET"],
      ["410080d2", "mov x1, #2           SOCK_DGRAM"],
      ["020080d2", "mov x2, #0"],
      ["c81880d2", "mov x8, #198         socket"],
      ["010000d4", "svc #0"],
      ["812291d2", "mov x1, #0x8914      SIOCSIFFLAGS"],
      ["c2000010", "adr x2, . + 24       ifreq"],
      ["a80380d2", "mov x8, #29          ioctl"],
      ["010000d4", "svc #0"],
      ["e00300cb", "neg x0, x0           the exit code"],
      ["a80b80d2", "mov x8, #93          exit"],
      ["010000d4", "svc #0"],
    ],
  },
};

/**
 * Writes the program into a directory, and returns the command for a shell that activates the loopback interface.
 * Architectures without a program need a tool that may be missing.
 */
export async function openLoopback(directory: string): Promise<string> {
  const program = loopbackProgram(process.arch);
  if (program === undefined) return "{ ip link set lo up || ifconfig lo up; }";
  const path = join(directory, "loopback-up");
  await writeFile(path, program, { mode: 0o755 });
  return quoteForShell(path);
}
