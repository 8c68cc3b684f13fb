import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { sql } from "#db/sql.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import {
  ActionCache,
  ActionResultSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type FarmHere, startFarmHere } from "../support/farm-here.ts";
import { freshDatabase } from "../support/fresh-db.ts";

// Servers with one database and one blob store.
const databaseUrl = await freshDatabase();
const keys = await mkdtemp(join(tmpdir(), "grange-keys-"));
const farmKey = join(keys, "farm.key");
const opened: { stop(): Promise<void> }[] = [];
let one: FarmHere;
let other: FarmHere;

async function aServer(key: string) {
  const farm = await startFarmHere({
    databaseUrl,
    blobs: join(keys, "blobs"),
    farmKey: key,
    workers: 0,
  });
  opened.push(farm);
  return farm;
}
beforeAll(async () => {
  one = await aServer(farmKey);
  other = await aServer(farmKey);
});
afterAll(async () => {
  for (const each of opened.toReversed()) await each.stop();
  await rm(keys, { recursive: true });
});

const channels = new Map<string, GrpcChannel>();
function channelTo({ url }: FarmHere): GrpcChannel {
  const known = channels.get(url);
  if (known !== undefined) return known;
  const channel = new GrpcChannel({ url });
  channels.set(url, channel);
  opened.push(channel);
  return channel;
}

async function written(said: string): Promise<Digest> {
  const action = digestOf(Buffer.from(randomUUID()));
  await channelTo(one).unary(ActionCache.method.updateActionResult, {
    actionDigest: toDigestMessage(action),
    actionResult: create(ActionResultSchema, { stdoutRaw: Buffer.from(said) }),
  });
  return action;
}

/** What a build tool gets from a server; "nothing" if it must build by itself. */
async function told(farm: FarmHere, action: Digest): Promise<string> {
  try {
    const asked = { actionDigest: toDigestMessage(action) };
    const result = await channelTo(farm).unary(ActionCache.method.getActionResult, asked);
    return Buffer.from(result.stdoutRaw).toString();
  } catch (reason) {
    if (!(reason instanceof Fault && reason.code === "not_found")) throw reason;
    return "nothing";
  }
}

async function refusals(farm: FarmHere): Promise<number> {
  const text = await (await fetch(`${farm.url}/metrics`)).text();
  const [, counted] = /grange_result_signatures_total\{outcome="refused"\} (\d+)/.exec(text) ?? [];
  if (counted === undefined) throw new Error("refused results are not counted");
  return Number(counted);
}

test("two servers with one key accept each other's signatures", async () => {
  const action = await written("hello");

  expect([await told(one, action), await told(other, action)]).toEqual(["hello", "hello"]);
});

test("all servers ignore a row that was changed in the database, and count it", async () => {
  const [a, b] = [await written("of a"), await written("of b")];
  const before = await refusals(other);
  await one.services.db.run(sql`
    update action_result as mine set result = theirs.result
    from action_result as theirs
    where mine.action_digest like ${`${a.hash}%`} and theirs.action_digest like ${`${b.hash}%`}
  `);

  expect([await told(one, a), await told(other, a)]).toEqual(["nothing", "nothing"]);
  expect([await told(one, b), await told(other, b)]).toEqual(["of b", "of b"]);
  expect(await refusals(other)).toBe(before + 1);
});

test("servers with different keys do not accept each other's results", async () => {
  const action = await written("ours");
  const stranger = await aServer(join(keys, "another.key"));

  expect(await told(stranger, action)).toBe("nothing");
  expect(await told(one, action)).toBe("ours");
});
