import { execFileSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PlacedArtifact } from "#artifacts/artifact-cache.ts";
import { seededRandom } from "#statistics/seeded-random.ts";

/** A real program that the lab counts, as installed on usual machines. */
export interface CountedProgram {
  readonly name: string;
  /** Without it the program cannot be measured. */
  readonly needs: string;
  readonly command: string;
  readonly kind: string;
}

/** `$here` is the folder with their inputs, which they only read. */
export const countedPrograms: readonly CountedProgram[] = [
  {
    name: "gcc",
    needs: "gcc",
    command: 'gcc -O1 -c "$here/sum.c" -o /dev/null',
    kind: "several processes",
  },
  {
    name: "xz",
    needs: "xz",
    command: 'xz -1 -T2 --block-size=64KiB -c "$here/text" >/dev/null',
    kind: "multi-threaded",
  },
  {
    name: "zstd",
    needs: "zstd",
    command: 'zstd -q -9 -T2 -B512KiB -c "$here/text" >/dev/null',
    kind: "multi-threaded",
  },
  {
    name: "ocaml",
    needs: "ocaml",
    command: 'ocaml "$here/lists.ml"',
    kind: "garbage collection",
  },
  {
    name: "python3",
    needs: "/usr/bin/python3",
    command: '/usr/bin/python3 -B -I "$here/words.py"',
    kind: "garbage collection",
  },
  {
    name: "git",
    needs: "git",
    command:
      "git -c safe.directory='*' --no-optional-locks -C \"$here/repository\" status --porcelain",
    kind: "reads the disk",
  },
];

const sum = `
static int table[64];
int sum(int n) { int s = 0; for (int i = 0; i < n; i++) { table[i & 63] += i; s ^= table[(i * 7) & 63]; } return s; }
int main(int argc, char **argv) { (void)argv; return sum(argc * 1000) & 1; }
`;
const lists = `
let rec build n acc = if n = 0 then acc else build (n - 1) ((n, string_of_int n) :: acc)
let () = for _ = 1 to 3 do ignore (List.sort compare (build 1500 [])) done
`;
const words = `
import gc
class Node:
    def __init__(self, name): self.name = name; self.next = self
nodes = {}
for i in range(1500):
    nodes["word" + str(i)] = Node("word" + str(i))
gc.collect()
print(len({n.name for n in nodes.values()}))
`;

/** Creates a folder with the programs' inputs; `run NAME` runs one, after a number of additional loop iterations. */
export async function programsIn(
  directory: string,
  planted: Readonly<Record<string, number>>,
): Promise<PlacedArtifact> {
  await mkdir(join(directory, "repository"), { recursive: true });
  await writeFile(join(directory, "sum.c"), sum);
  await writeFile(join(directory, "lists.ml"), lists);
  await writeFile(join(directory, "words.py"), words);
  await writeFile(join(directory, "text"), someText());
  const repository = join(directory, "repository");
  const git = (...args: string[]) => execFileSync("git", ["-C", repository, ...args]);
  for (let i = 0; i < 40; i++) await writeFile(join(repository, `file-${i}.txt`), `line ${i}\n`);
  git("init", "--quiet");
  git("add", "--all");
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"];
  git(...author, "commit", "--quiet", "-m", "one");
  const cases = countedPrograms.map(
    ({ name, command }) =>
      `  ${name}) i=0; while [ $i -lt ${planted[name] ?? 0} ]; do i=$((i + 1)); done; ${command} ;;`,
  );
  // The shell must stay: the simulator reports nothing about a replaced process.
  const script = ["#!/bin/sh", "here=${0%/*}", 'case "$1" in', ...cases, "esac", "exit $?", ""];
  await writeFile(join(directory, "run"), script.join("\n"));
  await chmod(join(directory, "run"), 0o755);
  return { directory, tool: [join(directory, "run")], env: {} };
}

/** 600 kB of slightly compressible text: enough for two blocks of each compressor. */
function someText(): string {
  const random = seededRandom("text");
  const line = () => `${random().toString(36)} ${random().toString(36)}\n`;
  const noise = Array.from({ length: 1_000 }, line).join("");
  return Array.from({ length: 25 }, (_, i) => `${noise}${i}\n`).join("");
}
