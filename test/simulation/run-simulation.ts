import { fileURLToPath } from "node:url";
import { startProgram } from "../support/process.ts";
import type { Search } from "./main.ts";
import type { Simulated } from "./simulation.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

/** The processes of a simulation: its host's time is replaced, so it needs processes of its own. */
const atOnce = 2;

/** Runs seeds, shared by two processes. Returns them in order. */
export async function runSeeds(from: number, count: number): Promise<readonly Simulated[]> {
  return (await simulate({ from, count })).runs;
}

/** Looks for each planted bug in at most so many seeds. */
export async function searchBugs(most: number, from = 1): Promise<readonly Search[]> {
  return (await simulate({ from, count: 0, most })).searches;
}

/** What two processes of a simulation are to do. */
interface Wanted {
  /** The processes share these seeds. */
  readonly from: number;
  readonly count: number;
  /** Each planted bug is looked for in at most so many seeds, from `from` on. */
  readonly most?: number;
  /** A seed that one of them runs before all others. */
  readonly first?: number;
}

/** What came of it, in the order of the seeds and of the planted bugs' parts. */
interface SimulationResult {
  readonly first: Simulated | undefined;
  readonly runs: readonly Simulated[];
  readonly searches: readonly Search[];
}

/**
 * Runs seeds, and looks for planted bugs, in the same two processes: each needs seconds to start its PostgreSQL and to
 * plan its statements.
 */
export async function simulate({ from, count, most, first }: Wanted): Promise<SimulationResult> {
  const each = Math.ceil(count / atOnce);
  const parts = await Promise.all(
    Array.from({ length: atOnce }, (_, n) => {
      const here = Math.max(0, Math.min(each, count - n * each));
      const alone = n === 0 && first !== undefined ? ["--first", `${first}`] : [];
      const search = ["--search", "--search-from", `${from}`, "--part", `${n}/${atOnce}`];
      if (here === 0 && alone.length === 0 && most === undefined) return Promise.resolve([]);
      return linesOf<Simulated | Search>([
        ...alone,
        "--from",
        `${from + n * each}`,
        "--count",
        `${here}`,
        ...(most === undefined ? [] : [...search, "--most", `${most}`]),
      ]);
    }),
  );
  const lines = parts.flat();
  const runs = lines.filter((line): line is Simulated => !isSearch(line));
  return {
    first: first === undefined ? undefined : runs[0],
    runs: first === undefined ? runs : runs.slice(1),
    searches: lines.filter(isSearch),
  };
}

function isSearch(line: Simulated | Search): line is Search {
  return "bug" in line;
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
