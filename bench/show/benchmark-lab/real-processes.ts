import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openArtifactCache } from "#artifacts/artifact-cache.ts";
import { judgeNoisy, type NoisyJudgement } from "#comparison/judge-noisy.ts";
import { judgePairs, type Pair, practicalLimit } from "#comparison/judge-pairs.ts";
import type { TestCase } from "#core/test-case.ts";
import { measurePairs } from "#measuring/measure-pairs.ts";
import { openWorkPlace, type WorkPlace } from "#measuring/work-place.ts";
import { Suite } from "#suites/suite.ts";
import { toyLine } from "../../../test/support/toy-line.ts";
import { toySuite } from "../../../test/support/toy-suite.ts";

/** Programs with known durations, measured with the collectors' tools. */
interface Bench {
  /**
   * Measures pairs of a program and one with `more` times as many rounds, until they are clear or the rounds have
   * ended.
   */
  pairs(more: number, seed: string): Promise<Pair[]>;
  close(): Promise<void>;
}

const rounds = [5, 10, 20] as const;
const target = "linux-x64";
const testCase: TestCase = {
  section: "compile",
  benchmark: "a",
  profile: "plain",
  scenario: "full",
  backend: "node",
  target,
};

/** About 60 ms of arithmetic, and almost nothing else. */
const defaultRounds = 1_500_000;

export async function openBench(factors: readonly number[]): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), "grange-real-processes-"));
  const line = await toyLine(
    factors.map((factor) => ({ work: 1, rounds: Math.round(defaultRounds * factor) })),
  );
  const suite = Suite.parse(
    toySuite(line.repository, {
      name: "toy",
      target,
      sets: [["a"]],
      rounds: [...rounds],
      tool: ["awk", "-f", "{artifact}/lib/tool.awk"],
    }),
  );
  const cache = await openArtifactCache({
    directory: join(directory, "artifacts"),
    limitBytes: 2 ** 30,
  });
  const place: WorkPlace = await openWorkPlace({ directory: join(directory, "work"), cache });
  const { signal } = new AbortController();
  const placed = await Promise.all(
    line.commits.map((commit) =>
      cache.place(suite, "node", { kind: "git", repository: line.repository, commit }, signal),
    ),
  );
  const programOf = (factor: number) => {
    const program = placed[factors.indexOf(factor)];
    if (program === undefined) throw new Error(`no program takes ${factor} times as long`);
    return program;
  };

  return {
    async pairs(more, seed) {
      const taken = await measurePairs({
        suite,
        case: testCase,
        child: programOf(more),
        parent: programOf(1),
        place,
        from: 0,
        seed,
        onPair: async () => {},
        signal,
      });
      return taken.flatMap(({ child, parent, parentFirst }) => {
        const [ofChild, ofParent] = [child["user-time"], parent["user-time"]];
        return ofChild === undefined || ofParent === undefined
          ? []
          : [{ child: ofChild, parent: ofParent, parentFirst }];
      });
    },
    async close() {
      await place.close();
      for (const program of placed) await cache.release(program);
      await line.remove();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A comparison as in the lab: pairs, and for a claimed change an independent rerun. */
export async function compared(
  bench: Bench,
  more: number,
  seed: string,
  noise?: number,
): Promise<NoisyJudgement & { readonly claimed: boolean }> {
  const options = {
    limit: practicalLimit(noise),
    rounds,
    better: "lower" as const,
  };
  const paired = await bench.pairs(more, seed);
  const { verdict } = judgePairs(paired, options);
  const claimed = verdict === "regressed" || verdict === "improved";
  const rerun = claimed ? await bench.pairs(more, `${seed}, again`) : [];
  return { ...judgeNoisy(paired, rerun, options), claimed };
}

/** Coefficient of variation: standard deviation over mean. */
export function variation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1)) / mean;
}
