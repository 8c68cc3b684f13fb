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
 * A command's process behaves the same in each sandbox: streams, environment, exit codes, signals and outputs. Without
 * a sandbox, the network is that of the machine. `conformance.test.ts` checks all rules with the sandbox that a worker
 * selects on this machine.
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
