import { elfExecutable } from "#machine/elf-executable.ts";
import { machineCode } from "./machine-code.ts";

/** `e_machine` of the ELF header. */
const elfMachines = { x64: 62, arm64: 183 } as const;

/**
 * Returns a program for system calls that Node does not have, as the bytes of a static ELF executable; undefined for an
 * architecture for which it was not compiled. The source is the C file of its name in this directory.
 *
 * @param settings The values that the program reads behind its code.
 */
export function nativeProgram(
  name: keyof typeof machineCode,
  architecture: string,
  settings?: Buffer,
): Buffer | undefined {
  if (architecture !== "x64" && architecture !== "arm64") return undefined;
  const code = machineCode[name][architecture].join("");
  return elfExecutable({ elfMachine: elfMachines[architecture], code: [[code, name]] }, settings);
}
