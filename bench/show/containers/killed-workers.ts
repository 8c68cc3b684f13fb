import { KillRounds, type KillStage } from "../../../src/worker/image/oci/kill-rounds.fixture.ts";
import { registryNeed } from "../../../test/support/docker-registry.ts";
import { requireNeeds } from "../require-needs.ts";
import { exactly, type Measurement } from "../row.ts";

const roundsOfEach = 4;
const stages: readonly KillStage[] = ["pull", "unpack", "run"];

/** Workers that end by SIGKILL while they pull, unpack or run an image. */
export const killedWorkers: Measurement = {
  title: "workers killed during pull, unpack and run",
  long: false,
  async measure() {
    requireNeeds([registryNeed]);
    const rounds = await KillRounds.open();
    try {
      const problems: string[] = [];
      for (let round = 0; round < roundsOfEach; round++) {
        for (const stage of stages) {
          for (const problem of await rounds.round(stage)) problems.push(`${stage}: ${problem}`);
        }
      }
      return [
        exactly(
          "workers killed during pull, unpack and run: rounds with a trace",
          problems.length,
          0,
          `of ${roundsOfEach * stages.length}`,
          problems.length === 0
            ? "the next worker runs the image; no process, no mount and no unfinished file is left"
            : problems.join("; "),
        ),
      ];
    } finally {
      await rounds.close();
    }
  },
};
