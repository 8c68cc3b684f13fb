import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Principal } from "#access/principal.ts";
import { everybody } from "#access/principal.ts";
import { freshDb } from "../../../test/support/fresh-db.ts";
import { cancelGraph } from "../cancel-graph.ts";
import { farmOfReruns } from "./farm-of-reruns.fixture.ts";

const db = await freshDb();
let farm: Awaited<ReturnType<typeof farmOfReruns>>;
beforeAll(async () => {
  farm = await farmOfReruns(db);
});
afterAll(async () => {
  await farm.stop();
  await db.close();
});

const waiting = [
  "  sign-off: {kind: breakpoint, release: [alice, 'team-*']}",
  "  ship: {commands: 'run-ship # MARK', needs: [sign-off]}",
].join("\n");

const alice: Principal = { ...everybody, name: "alice" };

describe("a breakpoint", () => {
  test.each([
    { verdict: "go", ends: "succeeded", ship: "succeeded" },
    { verdict: "stop", ends: "failed", ship: "unreachable" },
  ] as const)("told to $verdict has $ends", async ({ verdict, ends, ship }) => {
    const id = await farm.graphOf(waiting);
    await farm.settle();
    expect(await farm.states(id)).toMatchObject({ "sign-off": "waiting" });

    await farm.release(id, { job: "sign-off", verdict, reason: "looked at it" }, alice);
    await farm.work();

    expect(await farm.states(id)).toEqual({ "sign-off": ends, ship });
    const { runList, origin } = await farm.job(id, "sign-off");
    expect(runList[0]?.message).toMatch(/^(released|stopped) by alice: looked at it$/);
    expect(origin.audit).toMatchObject([{ actor: "alice", verb: "release" }]);
  });

  test("can be released only by principals on its list, and only with the grant", async () => {
    const id = await farm.graphOf(waiting);
    await farm.settle();
    const asked = { job: "sign-off", verdict: "go" } as const;

    await expect(farm.release(id, asked, everybody)).rejects.toMatchObject({
      code: "permission_denied",
      message:
        "anyone may not release sign-off: its definition names alice, team-*; ask one of them",
    });
    await expect(farm.release(id, asked, { name: "alice", grants: [] })).rejects.toMatchObject({
      code: "permission_denied",
    });
    expect((await farm.states(id))["sign-off"]).toBe("waiting");
  });

  test("that no run waits at cannot be released", async () => {
    const id = await farm.graphOf(waiting);
    await farm.settle();
    await farm.release(id, { job: "sign-off", verdict: "go" }, alice);

    const again = farm.release(id, { job: "sign-off", verdict: "stop" }, alice);
    await expect(again).rejects.toThrow("sign-off is succeeded: it does not wait for a release");
  });

  test("ends at once when its graph is cancelled", async () => {
    const id = await farm.graphOf(waiting);
    await farm.settle();

    await cancelGraph(db, farm.queue, everybody, id);

    expect(await farm.states(id)).toEqual({ "sign-off": "cancelled", ship: "cancelled" });
    expect((await farm.graph(id)).state).toBe("cancelled");
  });
});
