import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { grange, startFarm } from "../support/farm.ts";
import type { Need } from "../support/needs/needs.ts";
import { startProgram } from "../support/process.ts";
import { checkHistory, type Violation } from "./history/history.ts";
import { observedLoad } from "./history/observed-load.ts";

/** Where the second server of a data directory runs, seen from the first one. */
export const places = ["same namespace", "other PID namespace", "other boot"] as const;
type Place = (typeof places)[number];

interface SecondServers {
  /** Starts of a second server that were not refused with the reason, by place. */
  readonly notRefused: readonly string[];
  /** What clients of the first server saw, and of the one that was started after its kill. */
  readonly violations: readonly Violation[];
  readonly starts: number;
}

const asRoot = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];

/** Runs a command as the first process of a PID namespace with a /proc of its own, as a container does. */
export const container: readonly string[] = [
  "unshare",
  ...asRoot,
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
];

/** Runs a command where the kernel seems to have been started another time, as on another machine. */
function otherBoot(bootIdFile: string): readonly string[] {
  const script = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"';
  return ["unshare", ...asRoot, "--mount", "sh", "-c", script, bootIdFile];
}

export const pidNamespace: Need = {
  name: "PID and mount namespaces",
  get missing() {
    const [program = "", ...args] = container;
    const tried = spawnSync(program, [...args, "true"], { encoding: "utf8" });
    return tried.status === 0 ? undefined : (tried.error?.message ?? tried.stderr.trim());
  },
  remedy: { kind: "machine" },
};

/**
 * Starts second servers on the data directory of a farm that works, and kills the first one in the end: its successor
 * must find an intact database.
 */
export async function startSecondServers(startsEach: number): Promise<SecondServers> {
  const top = await mkdtemp(join(tmpdir(), "grange-second-server-"));
  const bootIdFile = join(top, "boot_id");
  await writeFile(bootIdFile, `${randomUUID()}\n`);
  const farm = await startFarm({ dataDir: join(top, "data") });
  const load = await observedLoad(farm);
  const within: Readonly<Record<Place, readonly string[]>> = {
    "same namespace": [],
    "other PID namespace": container,
    "other boot": otherBoot(bootIdFile),
  };
  const notRefused: string[] = [];
  try {
    for (let n = 0; n < startsEach; n++)
      for (const place of places) {
        await load.submit();
        const reason = await refusal(within[place], farm.dataDir);
        if (reason !== undefined) notRefused.push(`${place}: ${reason}`);
      }
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    farm.server.signal("SIGKILL");
    await farm.restartServer();
    for (const { id } of load.graphs) await load.readToItsEnd(id);
    return {
      notRefused,
      violations: checkHistory(load.history),
      starts: startsEach * places.length,
    };
  } finally {
    await farm.stop();
    await load.remove();
    await rm(top, { recursive: true, force: true });
  }
}

/** Returns undefined when the server was refused with the reason; otherwise what it said. */
async function refusal(within: readonly string[], dataDir: string): Promise<string | undefined> {
  const [program, ...args] = [
    ...within,
    process.execPath,
    grange,
    "server",
    "--data",
    dataDir,
    "--port",
    "0",
  ];
  const second = startProgram(program, args);
  const ready = second
    .line((line) => line.startsWith('{"ready":true'))
    .then(
      () => second.signal("SIGKILL"),
      () => {},
    );
  const { code, stdout, stderr } = await second.finished;
  await ready;
  const isRefused = code === 1 && /another Grange server \(.*\) has worked in/.test(stdout);
  return isRefused ? undefined : `exit code ${code}: ${stdout}${stderr}`;
}
