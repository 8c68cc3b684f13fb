import { spawnSync } from "node:child_process";
import { mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Farm, startFarm } from "./farm.ts";
import type { Need } from "./needs/needs.ts";
import type { Finished } from "./process.ts";
import { runGrange } from "./run-grange.ts";
import { type SampleRepository, sampleRepository } from "./sample-repository.ts";

/** `large` makes 8 MB, half of the disk; the others almost nothing. */
const definitions = `
version: 1
jobs:
  small: { commands: "echo small > small.out", inputs: [], outputs: [small.out] }
  reads: { commands: "true" }
  large:
    needs: [small]
    commands: head -c 8000000 /dev/urandom > large.out
    inputs: []
    outputs: [large.out]
`;

/** A farm whose blobs are on a disk of 16 MiB, and a repository for it. */
export interface SmallDisk {
  readonly farm: Farm;
  readonly repository: SampleRepository;
  /** Runs `grange submit --wait` for the repository. */
  readonly submit: () => Promise<Finished>;
  /** Fills the disk up to this free space; returns a function that frees it again. */
  readonly fill: (leftBytes: number) => Promise<() => Promise<void>>;
}

export async function onSmallDisk<T>(work: (disk: SmallDisk) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), "grange-small-disk-"));
  const repository = await sampleRepository({ ".grange/farm.yml": definitions });
  const farm = await startFarm({ dataDir, serverWithin: withinSmallDisk(dataDir, 16) });
  try {
    return await work({
      farm,
      repository,
      submit: () =>
        runGrange(["submit", "--wait", "--server", farm.url, "--repo", repository.path]),
      fill: (leftBytes) => fillDisk(farm, leftBytes),
    });
  } finally {
    await farm.stop();
    await repository.remove();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/**
 * Returns the start of a server's command line that gives it a small disk for its blobs.
 *
 * The disk is mounted so that only the server sees it, and disappears with the server.
 */
function withinSmallDisk(dataDir: string, mebibytes: number): string[] {
  return onDiskOf(join(dataDir, "blobs"), mebibytes);
}

/** Returns the start of a command line that gives a program a small disk, mounted on a directory. */
export function onDiskOf(directory: string, mebibytes: number): string[] {
  const mount = 'mkdir -p "$0" && mount -t tmpfs -o "size=$1m" tmpfs "$0" && shift && exec "$@"';
  return ["unshare", "--mount", "sh", "-c", mount, directory, String(mebibytes)];
}

let triedToMount: string | undefined;

/** The permission to mount a small disk. */
export const smallDisk: Need = {
  name: "a small disk, mounted for one process",
  get missing() {
    triedToMount ??= tryToMount();
    return triedToMount === "" ? undefined : triedToMount;
  },
  remedy: { kind: "root" },
};

/** Returns the reason of a failure; an empty text if a disk was mounted. */
function tryToMount(): string {
  const tried = spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]);
  return tried.status === 0 ? "" : (tried.error?.message ?? tried.stderr.toString().trim());
}

/** The disk is accessed through the server's process. */
async function fillDisk(farm: Farm, leftBytes: number): Promise<() => Promise<void>> {
  const blobs = join("/proc", String(farm.server.pid), "root", farm.dataDir, "blobs");
  const filler = join(blobs, `filler-${leftBytes}`);
  const { bavail, bsize } = await statfs(blobs);
  await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
  return () => rm(filler);
}
