import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newToken } from "#access/secret-token.ts";
import { requestLimits } from "#api/request-limits.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { detailsOf } from "#grpc/detailed-fault.ts";
import { ContentAddressableStorage } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { RetryInfoSchema } from "#proto/google/rpc/error_details_pb.ts";
import { aClosedFarm } from "../two-projects.fixture.ts";

const factor = 0.02;
const mostAtOnce = (name: "streams" | "uploads") => requestLimits[name].atOnce * factor;

let farm: Awaited<ReturnType<typeof aClosedFarm>>;
let token: string;
beforeAll(async () => {
  farm = await aClosedFarm({ GRANGE_REQUEST_LIMITS: `${factor}` });
  token = await farm.tokenOf("alice", ["read", "upload"]);
});
afterAll(() => farm?.stop());

const urlOf = (path: string) => `${farm.server.url.replace(/\/$/, "")}/api/v1${path}`;

test("an address that signs in too often is told when to try again; others sign in", async () => {
  const signIn = (address: string) =>
    fetch(urlOf("/session/token"), {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address },
      body: JSON.stringify({ token: `grange_${"0".repeat(43)}` }),
    });
  const statuses: number[] = [];
  let refused: Response | undefined;
  while (refused === undefined) {
    const answer = await signIn("198.51.100.1");
    statuses.push(answer.status);
    if (answer.status === 429) refused = answer;
  }

  expect(statuses.length).toBeLessThanOrEqual(requestLimits["sign-in"].burst * factor + 2);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    error: { code: "resource_exhausted", message: expect.stringMatching(/try again in \d+ s/) },
  });
  expect((await signIn("198.51.100.2")).status).not.toBe(429);
});

test("a caller has a number of streams of events; one more is accepted when one has ended", async () => {
  const streams: AbortController[] = [];
  const open = async () => {
    const leave = new AbortController();
    streams.push(leave);
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(urlOf("/events"), { headers, signal: leave.signal })).status;
  };
  try {
    for (let n = 0; n < mostAtOnce("streams"); n++) expect(await open()).toBe(200);
    expect(await open()).toBe(429);

    streams[0]?.abort();

    await expect.poll(open).toBe(200);
  } finally {
    for (const leave of streams) leave.abort();
  }
});

test("a caller has a number of uploads in progress; gRPC says when to try again", async () => {
  const { channel } = farm.asker("default", token);
  const never = new Promise<never>(() => {});
  const unfinished = async function* () {
    yield await never;
  };
  const refusals: unknown[] = [];
  for (let n = 0; n <= mostAtOnce("uploads"); n++) {
    channel.clientStream(ByteStream.method.write, unfinished()).catch((reason: unknown) => {
      refusals.push(reason);
    });
  }

  await expect.poll(() => refusals.length).toBe(1);
  const [refusal] = refusals;
  expect(refusal).toMatchObject({ code: "resource_exhausted" });
  const [detail] = detailsOf(refusal);
  expect(detail && anyUnpack(detail, RetryInfoSchema)?.retryDelay?.seconds).toBeGreaterThan(0n);
});

test("an address that sends many wrong tokens keeps those that were seen valid", async () => {
  const guesser = "198.51.100.9";
  const call = (by: string, address = guesser) =>
    fetch(urlOf("/graphs"), {
      headers: { authorization: `Bearer ${by}`, "x-forwarded-for": address },
    });
  const statusOf = async (by: string, address?: string) => (await call(by, address)).status;
  const cacheStatusOf = async (by: string) => {
    const url = `${farm.server.url.replace(/\/$/, "")}/cache/default/gradle/0`;
    const headers = { authorization: `Bearer ${by}`, "x-forwarded-for": guesser };
    return (await fetch(url, { headers })).status;
  };
  const [seen, unseen] = [token, await farm.tokenOf("bob", ["read"])];
  expect(await statusOf(seen)).toBe(200);
  const firstWrong = newToken();
  expect(await statusOf(firstWrong)).toBe(401);

  const refused = await call(newToken());

  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await cacheStatusOf(newToken())).toBe(429);
  expect(await statusOf(seen)).toBe(200);
  expect(await cacheStatusOf(seen)).toBe(404);
  // One that was sent before counts no more: it says what is wrong with it.
  expect(await statusOf(firstWrong)).toBe(401);
  // A valid token that this server has not seen yet cannot be told from a wrong one.
  expect(await statusOf(unseen)).toBe(429);
  expect(await statusOf(unseen, "198.51.100.10")).toBe(200);
  expect(await statusOf(unseen)).toBe(200);
});

test("wrong tokens over gRPC count, too", async () => {
  const find = async () => {
    const metadata = {
      authorization: `Bearer ${newToken()}`,
      "x-forwarded-for": "198.51.100.19",
    };
    const channel = new GrpcChannel({ url: farm.server.url, metadata: () => metadata });
    try {
      return await channel.unary(ContentAddressableStorage.method.findMissingBlobs, {});
    } finally {
      await channel.stop();
    }
  };

  await expect(find()).rejects.toMatchObject({ code: "unauthenticated" });
  await expect(find()).rejects.toMatchObject({ code: "resource_exhausted" });
});
