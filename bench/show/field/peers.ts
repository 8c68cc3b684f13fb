import { readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { findProgram } from "../../../test/support/needs/program.ts";

/** Programs of other projects that Grange is measured beside, with what people call them. */
const titles = {
  "bazel-remote": "bazel-remote",
  bb_storage: "Buildbarn's bb_storage",
  bb_scheduler: "Buildbarn's bb_scheduler",
  bb_worker: "Buildbarn's bb_worker",
  bb_runner: "Buildbarn's bb_runner",
  "buildbox-casd": "buildbox-casd",
  "buildbox-run": "buildbox-run",
  nativelink: "NativeLink",
  "redis-server": "Redis",
} as const;

type PeerName = keyof typeof titles;

/** A program of another project that was found on this machine. */
export interface Peer {
  readonly path: string;
  /** What people call it, with its version where that is known. */
  readonly title: string;
}

/** What is missing, and how it is added. */
export interface Absent {
  readonly absent: string;
}

/** The directory of peers, outside of the repository: their code never becomes a part of it. */
function peerDirectory(): string {
  return process.env["GRANGE_BENCH_PEERS"] ?? join(homedir(), ".cache", "grange-bench-peers");
}

/** Finds a program in the directory of peers, or else on the PATH. */
export function findPeer(name: PeerName): Peer | Absent {
  const directory = peerDirectory();
  const file = fileOf(name, filesIn(directory));
  const title = titles[name];
  if (file !== undefined) {
    const version = file.slice(name.length + 1);
    return { path: join(directory, file), title: version === "" ? title : `${title} ${version}` };
  }
  const onPath = findProgram(name);
  if (onPath !== undefined) return { path: onPath, title };
  return {
    absent: `${title} is absent: put the program ${name} on the PATH, or as ${name}@VERSION into ${directory} (GRANGE_BENCH_PEERS)`,
  };
}

/** Returns the file of a program: `NAME@VERSION`, the last one by name, or `NAME`. */
export function fileOf(name: string, files: readonly string[]): string | undefined {
  return files
    .filter((file) => file === name || file.startsWith(`${name}@`))
    .toSorted()
    .at(-1);
}

function filesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // The directory is optional.
    return [];
  }
}
