import { fileURLToPath } from "node:url";
import { startProgram } from "../support/process.ts";
import type { Search } from "./main.ts";
import type { Simulated } from "./simulation.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** The processes of a simulation: its host's time is replaced, so it needs processes of its own. */
const atOnce = 2;

/** Runs seeds, shared by two processes. Returns them in order. */
export async function runSeeds(from: number, count: number): Promise<Simulated[]> {
  const each = Math.ceil(count / atOnce);
  const parts = Array.from({ length: atOnce }, (_, n) => {
    const here = Math.min(each, count - n * each);
    return here <= 0
      ? Promise.resolve([])
      : linesOf<Simulated>(["--from", `${from + n * each}`, "--count", `${here}`]);
  });
  return (await Promise.all(parts)).flat();
}

/** Looks for each planted bug in at most so many seeds. */
export async function searchBugs(most: number, from = 1): Promise<Search[]> {
  const parts = Array.from({ length: atOnce }, (_, n) =>
    linesOf<Search>([
      "--search",
      "--from",
      `${from}`,
      "--part",
      `${n}/${atOnce}`,
      "--most",
      `${most}`,
    ]),
  );
  return (await Promise.all(parts)).flat();
}

/** The arguments of the command that runs a seed again, for messages. */
export function again(seed: number): string {
  return `npx tsx test/simulation/main.ts --from ${seed} --trace`;
}

async function linesOf<Line>(args: readonly string[]): Promise<Line[]> {
  const program = startProgram(process.execPath, ["--import", "tsx", main, ...args]);
  const { code, stdout, stderr } = await program.finished;
  if (code !== 0) throw new Error(`the simulation ended with ${code}: ${stderr.slice(-2_000)}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
}
