import { elfExecutable } from "#machine/elf-executable.ts";

/** A system call with numbers as its arguments. */
export interface Call {
  readonly number: number;
  readonly arguments?: readonly [number?, number?, number?];
}

/**
 * Returns a shell script that makes system calls and prints the result of each in a line: 0 and above for success, else
 * the number of the error below 0. Undefined for an unknown architecture.
 */
export function callScript(
  calls: readonly Call[],
  architecture = process.arch,
): string | undefined {
  const programs = calls.map((call) => callProgram(call, architecture));
  if (programs.includes(undefined)) return undefined;
  return programs
    .map((program) => {
      const text = program?.toString("base64");
      return `echo ${text} | base64 -d >call; chmod 755 call; ./call; code=$?; rm call; [ $code -lt 128 ] && echo -$code || echo 0`;
    })
    .join("\n");
}

/** A program that exits with the number of the call's error; above 127 when there was none. */
function callProgram(call: Call, architecture: string): Buffer | undefined {
  const [first = 0, second = 0, third = 0] = call.arguments ?? [];
  switch (architecture) {
    case "x64":
      return elfExecutable({
        elfMachine: 62,
        code: [
          [`b8${littleEndian(call.number)}`, "mov eax, number"],
          [`bf${littleEndian(first)}`, "mov edi, first"],
          [`be${littleEndian(second)}`, "mov esi, second"],
          [`ba${littleEndian(third)}`, "mov edx, third"],
          ["4531d2", "xor r10d, r10d"],
          ["4531c0", "xor r8d, r8d"],
          ["0f05", "syscall"],
          ["f7d8", "neg eax"],
          ["7f05", "jg over                  an error"],
          ["b8c8000000", "mov eax, 200"],
          ["89c7", "over: mov edi, eax"],
          ["b83c000000", "mov eax, 60              exit"],
          ["0f05", "syscall"],
        ],
      });
    case "arm64":
      return elfExecutable({
        elfMachine: 183,
        code: [
          [moveTo(8, call.number), "mov x8, number"],
          [moveTo(0, first), "mov x0, first"],
          [moveTo(1, second), "mov x1, second"],
          [moveTo(2, third), "mov x2, third"],
          [moveTo(3, 0), "mov x3, 0"],
          [moveTo(4, 0), "mov x4, 0"],
          ["010000d4", "svc #0"],
          ["e00300cb", "neg x0, x0"],
          ["1f0000f1", "cmp x0, #0"],
          ["4c000054", "b.gt over                an error"],
          [moveTo(0, 200), "mov x0, 200"],
          [moveTo(8, 93), "over: mov x8, 93         exit"],
          ["010000d4", "svc #0"],
        ],
      });
    default:
      return undefined;
  }
}

function littleEndian(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value | 0);
  return bytes.toString("hex");
}

/** `movz` of 16 bits. */
function moveTo(register: number, value: number): string {
  return littleEndian(0xd280_0000 | (value << 5) | register | 0);
}
