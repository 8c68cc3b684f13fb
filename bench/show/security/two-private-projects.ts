import { randomInt } from "node:crypto";
import fc from "fast-check";
import { aPrivateFarm } from "#server/private-farm.fixture.ts";
import {
  answersTellNothing,
  outcomeOfCall,
  readByDigest,
  readingCalls,
} from "#server/two-private-projects.fixture.ts";
import { exactly, type Measurement } from "../row.ts";

const requests = 10_000;

/** Whether a reader of one project learns of another one, whose names and digests it knows. */
export const twoPrivateProjects: Measurement = {
  title: "two private projects",
  long: false,
  async measure() {
    const farm = await aPrivateFarm("own");
    try {
      const seed = randomInt(2 ** 31);
      const checked = await fc.check(answersTellNothing(farm), { numRuns: requests, seed });
      const found = checked.failed ? `; ${String(checked.errorInstance)}` : "";
      const calls = Object.entries(readingCalls(farm.asker("team/beta", farm.token)));
      const different: string[] = [];
      for (const [name, call] of calls) {
        const said = await outcomeOfCall(call, farm.theirs);
        if (said !== (await outcomeOfCall(call, farm.nobodys))) different.push(name);
      }
      const byDigest = await readByDigest(farm);
      return [
        exactly(
          "two private projects: requests that open an output or a log of the other one by its digest",
          byDigest.different.length,
          0,
          `of ${byDigest.tried}`,
          [
            "gRPC and HTTP, through the other one's project and the reader's own",
            ...byDigest.different,
          ].join("; "),
        ),
        exactly(
          "two private projects: random HTTP requests that tell something of the other one",
          checked.failed ? 1 : 0,
          0,
          `of ${checked.numRuns}`,
          `each request is sent with the names of the other team's objects and with names of nothing; the answers are compared; seed ${seed}${found}`,
        ),
        exactly(
          "two private projects: gRPC methods that tell something of the other one",
          different.length,
          0,
          `of ${calls.length}`,
          ["the same", ...different].join("; "),
        ),
      ];
    } finally {
      await farm.stop();
    }
  },
};
