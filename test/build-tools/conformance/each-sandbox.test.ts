import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messageOf } from "#core/fault.ts";
import { readWorkerConfig } from "#worker/config.ts";
import { probeFacilities } from "#worker/machine.ts";
import { executionRules } from "./execution-rules.ts";
import { networkRules } from "./network-rules.ts";
import { outputRules } from "./output-rules.ts";
import { processRules } from "./process-rules.ts";
import { type SharedFarm, sharedFarm } from "./shared-farm.ts";

/** Why a sandbox does not work here; undefined when it does. */
async function whyNot(sandbox: "bubblewrap" | "namespaces" | "none"): Promise<string | undefined> {
  const dataDir = mkdtempSync(join(tmpdir(), "grange-conformance-"));
  try {
    await probeFacilities(readWorkerConfig({ dataDir, sandbox }));
    return undefined;
  } catch (reason) {
    return messageOf(reason);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const sandboxes = await Promise.all(
  (["bubblewrap", "namespaces", "none"] as const).map(async (sandbox) => ({
    sandbox,
    why: await whyNot(sandbox),
  })),
);

test.for(sandboxes)("the rules are checked with sandbox $sandbox", ({ sandbox, why }, { skip }) => {
  skip(why !== undefined, `NOT TESTED: sandbox ${sandbox}, since ${why}`);
  expect(why).toBeUndefined();
});

/**
 * What a client finds of a command's process is the same in each sandbox: its streams, environment, exit
 * codes, signals and outputs. Without a sandbox, the network is the machine's. `conformance.test.ts` checks
 * all rules with the sandbox that a worker here chooses.
 */
describe.each(sandboxes.filter(({ why }) => why === undefined))(
  "with sandbox $sandbox",
  ({ sandbox }) => {
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
  },
);
