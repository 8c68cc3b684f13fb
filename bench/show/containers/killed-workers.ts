import { KillRounds, type KillStage } from "../../../src/worker/image/oci/kill-rounds.fixture.ts";
import { registryNeed } from "../../../test/support/docker-registry.ts";
import { requireNeeds } from "../require-needs.ts";
import { atLeast, exactly, type Measurement } from "../row.ts";

const stages: readonly KillStage[] = ["pull", "unpack", "run"];

/** After each such number of rounds, the worker stops, and what is left on the disk is compared with the first round. */
const settledEvery = 10;

/** After this time no further round begins, and the row with their number says so. */
const longestMs = 30 * 60_000;

/** Workers that end by SIGKILL while they pull, unpack or run an image: at most 30 minutes, and the last round. */
const killedRounds = (roundsOfEach: number, long: boolean): Measurement => {
  const title = `workers killed during pull, unpack and run, ${roundsOfEach * stages.length} rounds`;
  return {
    title,
    long,
    async measure() {
      requireNeeds([registryNeed]);
      const rounds = await KillRounds.open();
      try {
        const problems: string[] = [];
        const began = performance.now();
        const all = Array.from({ length: roundsOfEach }, () => stages).flat();
        let done = 0;
        for (const stage of all) {
          if (performance.now() - began > longestMs) break;
          done++;
          const settles = done % settledEvery === 1 || done === all.length;
          for (const problem of await rounds.round(stage, { settles }))
            problems.push(`${stage}: ${problem}`);
        }
        return [
          atLeast(
            `${title}: rounds in ${longestMs / 60_000} minutes`,
            done,
            all.length,
            "rounds",
            `${Math.round((performance.now() - began) / 1_000)} s`,
          ),
          exactly(
            `${title}: traces`,
            problems.length,
            0,
            "",
            problems.length === 0
              ? `after each round, the next worker runs the image, and no process and no mount is left; after every ${settledEvery}th, no unfinished file, and no file outside of the images that was not there after the first one`
              : problems.slice(0, 20).join("; "),
          ),
        ];
      } finally {
        await rounds.close();
      }
    },
  };
};

export const killedWorkers = killedRounds(7, false);
export const manyKilledWorkers = killedRounds(67, true);
