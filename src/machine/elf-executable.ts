/** A program for one kind of processor. */
export interface MachineCode {
  /** `e_machine` of the ELF header. */
  readonly elfMachine: number;
  /** Instructions in hexadecimal, in memory order, with their meanings. */
  readonly code: readonly (readonly [bytes: string, meaning: string])[];
}

/**
 * Returns the bytes of a static ELF executable: the instructions, and `data` after them.
 *
 * For system calls for which Node has no function. The instructions must be position-independent.
 */
export function elfExecutable(machine: MachineCode, data: Buffer = Buffer.alloc(0)): Buffer {
  const code = Buffer.from(machine.code.map(([bytes]) => bytes).join(""), "hex");
  return Buffer.concat([elfHeaders(machine.elfMachine, code.length + data.length), code, data]);
}

const elfHeaderBytes = 64;
const programHeaderBytes = 56;
const headerBytes = elfHeaderBytes + programHeaderBytes;

/** The load address of the file. Above `vm.mmap_min_addr`, and a multiple of the largest page size. */
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
