/**
 * A program that brings the loopback interface of its network namespace up, as the bytes of a static
 * ELF executable; undefined for an architecture that is not in the table below.
 *
 * A new network namespace has its loopback down, and only ioctl(2) or netlink change that. Node can call
 * neither, util-linux has no tool for it, and `ip` and `ifconfig` are often not installed. The program is:
 *
 *     fd = socket(AF_INET, SOCK_DGRAM, 0);
 *     exit(-ioctl(fd, SIOCSIFFLAGS, &{ .ifr_name = "lo", .ifr_flags = IFF_UP }));
 *
 * Its exit code is 0, or the number of the error.
 */
export function loopbackProgram(architecture: string): Buffer | undefined {
  const machine = machines[architecture];
  if (machine === undefined) return undefined;
  const code = Buffer.from(machine.code.map(([bytes]) => bytes).join(""), "hex");
  return Buffer.concat([elfHeaders(machine.elfMachine, code.length + ifreq.length), code, ifreq]);
}

/** `struct ifreq` of netdevice(7): 16 bytes of name, and a union whose first two bytes are the flags. */
const ifreq = Buffer.alloc(40);
ifreq.write("lo");
ifreq.writeUInt16LE(1, 16); // IFF_UP

interface MachineCode {
  /** `e_machine` of the ELF header. */
  readonly elfMachine: number;
  /** Instructions in hexadecimal, as they lie in memory, with what they do. `ifreq` follows the last one. */
  readonly code: readonly (readonly [bytes: string, meaning: string])[];
}

/** Instructions name `ifreq` by its distance, so that they do not depend on where they are loaded. */
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

const elfHeaderBytes = 64;
const programHeaderBytes = 56;
const headerBytes = elfHeaderBytes + programHeaderBytes;

/** Where the file is loaded. Above `vm.mmap_min_addr`, and a multiple of the largest page size. */
const loadAddress = 0x400000n;
const largestPageBytes = 0x10000n;

/** The ELF header and one program header, which loads the whole file, readable and executable. See elf(5). */
function elfHeaders(elfMachine: number, contentBytes: number): Buffer {
  const headers = Buffer.alloc(headerBytes);
  headers.write("\x7fELF", "latin1");
  headers.set([2, 1, 1], 4); // 64 bits, little-endian, version 1
  headers.writeUInt16LE(2, 16); // e_type: executable
  headers.writeUInt16LE(elfMachine, 18);
  headers.writeUInt32LE(1, 20); // e_version
  headers.writeBigUInt64LE(loadAddress + BigInt(headerBytes), 24); // e_entry
  headers.writeBigUInt64LE(BigInt(elfHeaderBytes), 32); // e_phoff
  headers.writeUInt16LE(elfHeaderBytes, 52); // e_ehsize
  headers.writeUInt16LE(programHeaderBytes, 54); // e_phentsize
  headers.writeUInt16LE(1, 56); // e_phnum
  const fileBytes = BigInt(headerBytes + contentBytes);
  headers.writeUInt32LE(1, 64); // p_type: PT_LOAD
  headers.writeUInt32LE(5, 68); // p_flags: read, execute
  headers.writeBigUInt64LE(loadAddress, 80); // p_vaddr
  headers.writeBigUInt64LE(loadAddress, 88); // p_paddr
  headers.writeBigUInt64LE(fileBytes, 96); // p_filesz
  headers.writeBigUInt64LE(fileBytes, 104); // p_memsz
  headers.writeBigUInt64LE(largestPageBytes, 112); // p_align
  return headers;
}
