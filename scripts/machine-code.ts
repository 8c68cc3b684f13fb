/**
 * Compiles the programs of src/worker/native into src/worker/native/machine-code.ts: `npm run machine-code`.
 *
 * It needs GCC for both architectures (Debian: gcc, gcc-aarch64-linux-gnu).
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const directory = fileURLToPath(new URL("../src/worker/native", import.meta.url));
const output = join(directory, "machine-code.ts");
const programs: readonly string[] = ["starter", "enter"];
interface Compiler {
  readonly arch: string;
  /** Of the names of its programs. */
  readonly prefix: string;
}

const compilers: readonly Compiler[] = [
  { arch: "x64", prefix: "" },
  { arch: "arm64", prefix: "aarch64-linux-gnu-" },
];

const flags =
  "-std=gnu11 -Os -Wall -Wextra -Werror -ffreestanding -fno-builtin -nostdlib -static -fno-pic -fvisibility=hidden " +
  "-fno-stack-protector -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -fcf-protection=none " +
  "-Wl,-T,one-section.ld -Wl,--build-id=none -Wl,-e,start";

/** Returns a hash of all files from which the programs are compiled. */
export function hashOfSources(): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(directory).toSorted())
    if (/\.(c|h|ld)$/.test(name)) hash.update(readFileSync(join(directory, name)));
  return hash.digest("hex");
}

/** Returns the instructions and constants of a program in hexadecimal. */
function compiled(program: string, { arch, prefix }: Compiler): string {
  const temp = mkdtempSync(join(tmpdir(), "grange-machine-code-"));
  try {
    const [linked, code] = [join(temp, "linked"), join(temp, "code")];
    const ours = flags.split(" ").filter((flag) => arch === "x64" || !flag.startsWith("-fcf-"));
    execFileSync(`${prefix}gcc`, [...ours, "-o", linked, `${program}.c`], { cwd: directory });
    execFileSync(`${prefix}objcopy`, ["-O", "binary", "-j", ".all", linked, code]);
    return readFileSync(code).toString("hex");
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

function textOf(codes: Readonly<Record<string, Readonly<Record<string, string>>>>): string {
  const lines = [
    "// Written by `npm run machine-code` from the C files in this directory. Do not edit.",
    `// The hash of the files: ${hashOfSources()}`,
    "",
    "/** The instructions of each program for each architecture, in hexadecimal. */",
    "export const machineCode = {",
  ];
  for (const [program, byArch] of Object.entries(codes)) {
    lines.push(`  ${program}: {`);
    for (const [arch, hex] of Object.entries(byArch)) {
      const pieces = hex.match(/.{1,96}/g) ?? [];
      lines.push(`    ${arch}: [`, ...pieces.map((piece) => `      "${piece}",`), "    ],");
    }
    lines.push("  },");
  }
  return `${[...lines, "} as const;"].join("\n")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const codes = Object.fromEntries(
    programs.map((program) => [
      program,
      Object.fromEntries(compilers.map((compiler) => [compiler.arch, compiled(program, compiler)])),
    ]),
  );
  writeFileSync(output, textOf(codes));
}
