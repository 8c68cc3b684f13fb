import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type FinishedSchema, Outcome, Workers } from "#proto/grange/worker/v1/worker_pb.ts";
import { codeOf } from "../build-tools/hostile-target.ts";
import type { HostileCase, HostileSuite } from "./case.ts";
import { type HostileFarm } from "./hostile-farm.ts";
import { isOneOf } from "./known-attacks.ts";
import { openFarm } from "./open-farm.ts";
import { finishAs, honest, isPublished, type Rogue, wellDone, withLease } from "./rogue-worker.ts";
import { workerClaims } from "./worker-claims.ts";

const { register, heartbeat, release, appendLog } = Workers.method;
type Case = HostileCase<HostileFarm>;

/** The lease has ended for the caller with this claim, and is still valid for its holder. */
function refused(name: string, lie: (rogue: Rogue) => Partial<Rogue>): Case {
  return {
    name,
    run: (farm) =>
      withLease(farm, async (rogue) => {
        const { me, lease } = { ...rogue, ...lie(rogue) };
        const got = await finishAs(farm, me, { ...wellDone, lease });
        isOneOf(got, "refused", "permission_denied", "invalid_argument");
        assert.equal(await isPublished(farm, rogue.action), false);
        isOneOf(await finishAs(farm, rogue.me, { ...wellDone, lease: rogue.lease }), "published");
      }),
  };
}

/** The lease ends as requested, but other clients get no result of it. */
function notPublished(
  name: string,
  end: Omit<MessageInitShape<typeof FinishedSchema>, "$typeName">,
): Case {
  return {
    name: `a result ${name}`,
    run: (farm) =>
      withLease(farm, async ({ me, lease, action }) => {
        await finishAs(farm, me, { ...end, lease });
        assert.equal(await isPublished(farm, action), false);
      }),
  };
}

const gone = toDigestMessage(digestOf(Buffer.from("never uploaded by any worker")));

const leases: readonly Case[] = [
  refused("the epoch before", ({ lease }) => ({
    lease: { ...lease, epoch: (lease.epoch ?? 1n) - 1n },
  })),
  refused("the epoch after", ({ lease }) => ({
    lease: { ...lease, epoch: (lease.epoch ?? 1n) + 1n },
  })),
  refused("the attempt after", ({ lease }) => ({ lease: { ...lease, attempt: 2 } })),
  refused("an execution that is nobody's", ({ lease }) => ({
    lease: { ...lease, executionId: randomUUID() },
  })),
  refused("an execution's id that is SQL", ({ lease }) => ({
    lease: { ...lease, executionId: "' or 1=1 --" },
  })),
  refused("an epoch of 2^63 - 1", ({ lease }) => ({ lease: { ...lease, epoch: 2n ** 63n - 1n } })),
  {
    name: "a result that is sent twice",
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        isOneOf(await finishAs(farm, me, { ...wellDone, lease }), "published");
        const other = { exitCode: 0, stdoutRaw: Buffer.from("changed my mind") };
        const again = { outcome: Outcome.SUCCEEDED, result: other, lease };
        isOneOf(await finishAs(farm, me, again), "refused");
      }),
  },
  {
    name: "a lease of another worker, returned by a worker that does not hold it",
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        const stale = { ...lease, epoch: (lease.epoch ?? 1n) + 5n };
        await farm.channel.unary(release, { leases: [stale] });
        isOneOf(await finishAs(farm, me, { ...wellDone, lease }), "published");
      }),
  },
  {
    name: "a heartbeat for another worker's lease",
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        const said = honest();
        await farm.channel.unary(register, said);
        const other = { workerName: said.name, instanceId: said.instanceId };
        const { lost } = await farm.channel.unary(heartbeat, { ...other, leases: [lease] });
        assert.deepEqual(
          lost.map(({ executionId }) => executionId),
          [lease.executionId],
        );
        isOneOf(await finishAs(farm, me, { ...wellDone, lease }), "published");
      }),
  },
  {
    name: "a log of another worker's attempt",
    run: (farm) =>
      withLease(farm, async ({ lease }) => {
        const stale = { ...lease, epoch: (lease.epoch ?? 1n) + 1n };
        const data = Buffer.from("all is well\n");
        const { accepted } = await farm.channel.unary(appendLog, {
          lease: stale,
          offset: 0n,
          data,
        });
        assert.equal(accepted, false);
      }),
  },
  {
    name: "10,000 leases that do not exist, in one heartbeat",
    run: (farm) =>
      withLease(farm, async ({ me }) => {
        const made = Array.from({ length: 10_000 }, () => ({
          executionId: randomUUID(),
          attempt: 1,
          epoch: 1n,
        }));
        const { lost } = await farm.channel.unary(heartbeat, { ...me, leases: made });
        assert.equal(lost.length, made.length);
      }),
  },
];

const logs: readonly Case[] = [
  ...[-1n, 2n ** 62n, 2n ** 63n - 1n].map((offset) => ({
    name: `a log that goes on at ${offset}`,
    run: (farm: HostileFarm) =>
      withLease(farm, async ({ lease }) => {
        const data = Buffer.from("x");
        let accepted = false;
        const code = await codeOf(async () => {
          ({ accepted } = await farm.channel.unary(appendLog, { lease, offset, data }));
        });
        isOneOf(code, "ok", "invalid_argument", "out_of_range");
        assert.equal(accepted, false);
      }),
  })),
  {
    name: "a log of 1 GiB (80 MiB in the short run): it is stored up to the limit, and it ends",
    alone: true,
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        const data = Buffer.alloc(3 * 1_048_576, "flood ");
        const most = (farm.full ? 1_024 : 80) * 1_048_576;
        let offset = 0n;
        while (offset < BigInt(most)) {
          const next = await farm.channel.unary(appendLog, { lease, offset, data });
          assert.equal(next.accepted, true);
          offset = next.nextOffset;
        }
        isOneOf(await finishAs(farm, me, { ...wellDone, lease }), "published");
        const path = `/executions/${lease.executionId}/log?offset=${65 * 1_048_576}`;
        assert.equal((await farm.ask(path)).text, "");
      }),
  },
];

const results: readonly Case[] = [
  notPublished("whose blobs were never uploaded", {
    ...wellDone,
    result: { exitCode: 0, outputFiles: [{ path: "out", digest: gone }] },
  }),
  notPublished("that leads out", {
    ...wellDone,
    result: { exitCode: 0, outputSymlinks: [{ path: "out", target: "../etc/passwd" }] },
  }),
  notPublished("of a success that exited with 3", { ...wellDone, result: { exitCode: 3 } }),
  notPublished("of a success without a result", { outcome: Outcome.SUCCEEDED }),
  notPublished("with an outcome that nobody knows", { ...wellDone, outcome: 77 as Outcome }),
  notPublished("with an outcome left out", { result: { exitCode: 0 } }),
  {
    name: "a usage of less than nothing, and a message of 3 MB with a NUL",
    run: (farm) =>
      withLease(farm, async ({ me, lease }) => {
        const got = await finishAs(farm, me, {
          lease,
          outcome: Outcome.FAILED,
          result: { exitCode: 1 },
          message: `\u0000${"m".repeat(3_000_000)}`,
          usage: {
            userTime: { seconds: -5n, nanos: 0 },
            systemTime: { seconds: 2n ** 60n, nanos: 0 },
            peakMemoryBytes: -(2n ** 63n),
            measuredBy: "\u0000",
          },
        });
        isOneOf(got, "published", "invalid_argument");
        const { text, status } = await farm.ask(`/executions/${lease.executionId}`);
        assert.equal(status, 200);
        assert(text.length < 100_000, `${text.length} characters are shown`);
      }),
  },
];

export const workerApiSuite: HostileSuite<HostileFarm> = {
  interface: "the API of workers",
  atLeast: 20,
  cases: [...leases, ...logs, ...workerClaims, ...results],
  open: openFarm,
};
