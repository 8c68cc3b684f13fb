import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { quantile } from "../quantile.ts";

export interface Timed {
  readonly code: number | null;
  readonly wallMs: number;
  /** The CPU time of the command and all its children that it waited for. */
  readonly cpuMs: number;
  /** The complete output. */
  readonly text: string;
}

const timeFormat = "__took %U %S";
/** Per second; the value on every Linux. */
const ticks = 100;

/** Runs a command until it ends, with the measurements of a shell's `time`. */
export async function timed(
  command: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<Timed> {
  const began = performance.now();
  const child = spawn("bash", ["-c", 'time "$@"', "timed", ...command], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env, TIMEFORMAT: timeFormat },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (some: string) => (text += some));
  child.stderr.setEncoding("utf8").on("data", (some: string) => (text += some));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const wallMs = performance.now() - began;
  const [, user = "0", system = "0"] = /__took ([\d.]+) ([\d.]+)/.exec(text) ?? [];
  return { code, wallMs, cpuMs: (Number(user) + Number(system)) * 1_000, text };
}

/** CPU that a living process has used, with its children that it waited for, in milliseconds. */
export async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, ofChildren = 0, systemOfChildren = 0] = fields
    .slice(11, 15)
    .map(Number);
  return ((user + system + ofChildren + systemOfChildren) * 1_000) / ticks;
}

export function medianWallMs(runs: readonly Timed[]): number {
  return quantile(
    runs.map(({ wallMs }) => wallMs),
    0.5,
  );
}

/** Returns the wall times of all runs in words: `3.1 s, 2.9 s`. */
export function wallTimes(runs: readonly Timed[]): string {
  return runs.map(({ wallMs }) => `${(wallMs / 1_000).toFixed(1)} s`).join(", ");
}
