import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Finished, type Program, startProgram } from "../../test/support/process.ts";

/**
 * Clients that only Debian's unstable release has, in a directory that `debootstrap` has filled.
 *
 * It shares the network with the machine, so that its programs reach a farm outside of it.
 */
export interface SidChroot {
  readonly root: string;
  /** A directory of this run's own, as the chroot sees it. */
  readonly work: string;
  /** Writes a file to `work`. */
  write(name: string, content: string): Promise<void>;
  /** Runs a bash script in `work`; throws unless it succeeds. */
  run(script: string): Promise<Finished>;
  /** The same, timed. */
  time(script: string): Promise<number>;
  start(script: string): Program;
  remove(): Promise<void>;
}

/** Returns why nothing can run here; undefined when it can. */
export function whyNoChroot(): string | undefined {
  const root = process.env["GRANGE_SID_CHROOT"];
  if (root === undefined) {
    return "GRANGE_SID_CHROOT names no directory; `debootstrap sid DIR` makes one, to be filled with buildbox, bazel-bootstrap, openjdk-21-jdk-headless, g++ and gcc";
  }
  if (process.getuid?.() !== 0) return "only root may enter another root directory";
  const missing = ["trexe", "recc", "casupload", "buildbox-casd", "bazel", "g++"].filter(
    (name) => !existsSync(join(root, "usr/bin", name)),
  );
  if (missing.length > 0) return `${root} has no ${missing.join(", ")}`;
  // Bazel reads /proc, and casd provides inputs with /dev/fuse; both mounts are gone after a restart of the machine.
  const unmounted = ["proc/self", "dev/fuse"].filter((name) => !existsSync(join(root, name)));
  return unmounted.length === 0
    ? undefined
    : `${root} has no ${unmounted.join(", ")}; \`mount -t proc proc ${root}/proc\` and \`mount --bind /dev ${root}/dev\` bring them`;
}

export async function openChroot(): Promise<SidChroot> {
  const root = process.env["GRANGE_SID_CHROOT"] ?? "";
  const outside = await mkdtemp(join(root, "tmp/grange-clients-"));
  const work = outside.slice(root.replace(/\/$/, "").length);
  const env = { HOME: work, LANG: "C.UTF-8" };
  const start = (script: string) =>
    startProgram("chroot", [root, "bash", "-euc", `cd ${work}; ${script}`], { env });
  const run = async (script: string) => {
    const finished = await start(script).finished;
    if (finished.code === 0) return finished;
    throw new Error(
      `${script}\nended with ${finished.code}:\n${finished.stdout}${finished.stderr}`,
    );
  };
  return {
    root,
    work,
    start,
    run,
    write: (name, content) => writeFile(join(outside, name), content),
    async time(script) {
      const startedAt = performance.now();
      await run(script);
      return performance.now() - startedAt;
    },
    remove: () => rm(outside, { recursive: true, force: true }),
  };
}
