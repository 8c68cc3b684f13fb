import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registryNeed } from "../../../../test/support/docker-registry.ts";
import { needs } from "../../../../test/support/needs/needs.ts";
import { sandboxNeeds } from "../../sandbox-needs.fixture.ts";
import { KillRounds, type KillStage } from "./kill-rounds.fixture.ts";

const [{ need } = { need: registryNeed }] = await sandboxNeeds(["namespaces"]);

describe("a worker that is killed", needs(registryNeed, need), () => {
  let rounds: KillRounds;
  beforeAll(async () => {
    rounds = await KillRounds.open();
  });
  afterAll(() => rounds?.close());

  test.each<KillStage>(["pull", "unpack", "run"])(
    "during %s leaves nothing, and the next one runs the image",
    async (stage) => {
      expect(await rounds.round(stage, { settles: true })).toEqual([]);
    },
  );
});
