import { afterAll, beforeAll, describe } from "vitest";
import { sandboxNeeds } from "#worker/sandbox-needs.fixture.ts";
import { needs } from "../../support/needs/needs.ts";
import { executionRules } from "./execution-rules.ts";
import { networkRules } from "./network-rules.ts";
import { outputRules } from "./output-rules.ts";
import { processRules } from "./process-rules.ts";
import { type SharedFarm, sharedFarm } from "./shared-farm.ts";

const sandboxes = await sandboxNeeds(["bubblewrap", "namespaces", "none"]);

/**
 * What a client finds of a command's process is the same in each sandbox: its streams, environment, exit
 * codes, signals and outputs. Without a sandbox, the network is the machine's. `conformance.test.ts` checks
 * all rules with the sandbox that a worker here chooses.
 */
for (const { sandbox, need } of sandboxes) {
  describe(`with sandbox ${sandbox}`, needs(need), () => {
    let farm: SharedFarm;
    beforeAll(async () => {
      farm = await sharedFarm(sandbox);
    });
    afterAll(() => farm?.stop());
    const shared = () => farm;

    processRules(shared);
    outputRules(shared);
    executionRules(shared);
    if (sandbox !== "none") networkRules(shared);
  });
}
