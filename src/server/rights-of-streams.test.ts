import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toDigestMessage } from "#cas/digest-message.ts";
import { readingVerbs } from "#core/verb.ts";
import { Execution } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { Operations } from "#proto/google/longrunning/operations_pb.ts";
import { postTo } from "../../test/support/ask-server.ts";
import { aPrivateFarm } from "./private-farm.fixture.ts";
import { thingsNamed, upload } from "./two-projects.fixture.ts";

let farm: Awaited<ReturnType<typeof aPrivateFarm>>;
beforeAll(async () => {
  farm = await aPrivateFarm();
});
afterAll(() => farm?.stop());

/** A stream must end within this time after its caller's right was taken away, in ms. */
const mostMs = 10_000;

/** Returns the token of a principal that may read the team's repository and project. */
async function aReader(name: string): Promise<string> {
  const token = await farm.tokenOf(name, readingVerbs, farm.theirs.repository);
  for (const verb of readingVerbs) {
    const grant = { principal: name, verb, repository: farm.theirs.project };
    await postTo(farm.server, "/grants", grant, farm.root);
  }
  return token;
}

async function takeRightsAway(principal: string): Promise<number> {
  for (const verb of readingVerbs)
    await postTo(farm.server, "/grants/remove", { principal, verb }, farm.root);
  return performance.now();
}

test.concurrent.each([
  ["of a graph", () => `/graphs/${farm.theirs.graph}/events`],
  ["of all graphs", () => "/events"],
  ["of an execution's log", () => `/executions/${farm.theirs.execution}/log/events`],
])(
  "the stream of events %s ends when the right to read is taken away",
  async (what, path) => {
    const name = `reader-${what.replaceAll(/[^a-z]/g, "-")}`;
    const token = await aReader(name);
    const response = await fetch(`${farm.server.url.replace(/\/$/, "")}/api/v1${path()}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const events = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const first = await events?.read();

    const takenAt = await takeRightsAway(name);
    let last = "";
    for (;;) {
      const part = await events?.read();
      if (part === undefined || part.done) break;
      last = part.value;
    }

    expect(first?.done).toBe(false);
    expect(last).toContain("event: failure");
    expect(last).toMatch(/not_found|permission_denied/);
    expect(performance.now() - takenAt).toBeLessThan(mostMs);
  },
  30_000,
);

test.concurrent("the stream of a log over gRPC ends, too", async () => {
  const token = await aReader("reader-by-grpc");
  const { channel } = farm.asker(farm.theirs.project, token);
  const { project, execution } = farm.theirs;
  const pieces = channel.serverStream(ByteStream.method.read, {
    resourceName: `${project}/logs/${execution}/1/stdout`,
  });
  const following = pieces[Symbol.asyncIterator]().next();
  following.catch(() => {});

  const takenAt = await takeRightsAway("reader-by-grpc");

  await expect(following).rejects.toMatchObject({ code: "permission_denied" });
  expect(performance.now() - takenAt).toBeLessThan(mostMs);
}, 30_000);

describe("calls that follow an operation end when the right is taken away", () => {
  test.concurrent("WaitExecution and WaitOperation, for who may read it", async () => {
    const name = "reader-of-operations";
    const { channel } = farm.asker(farm.theirs.project, await aReader(name));
    const { operation } = farm.theirs;
    const messages = channel
      .serverStream(Execution.method.waitExecution, { name: operation })
      [Symbol.asyncIterator]();
    expect((await messages.next()).value?.name).toBe(operation);
    const following = messages.next();
    const waiting = channel.unary(Operations.method.waitOperation, { name: operation });
    for (const each of [following, waiting]) each.catch(() => {});

    const takenAt = await takeRightsAway(name);

    const failure = { code: "not_found", message: `there is no operation ${operation}` };
    await expect(following).rejects.toMatchObject(failure);
    await expect(waiting).rejects.toMatchObject(failure);
    expect(performance.now() - takenAt).toBeLessThan(mostMs);
  }, 30_000);

  test.concurrent("Execute, for who may execute", async () => {
    const name = "executes-by-grpc";
    const { project } = farm.theirs;
    const builder = farm.asker(project, await farm.tokenOf(name, ["execute"], project));
    const things = thingsNamed("a right that is taken away");
    await upload(builder, things.bytes);
    const messages = builder.channel
      .serverStream(Execution.method.execute, {
        instanceName: project,
        actionDigest: toDigestMessage(things.action),
      })
      [Symbol.asyncIterator]();
    expect((await messages.next()).done).toBe(false);
    const following = messages.next();
    following.catch(() => {});

    const takenAt = performance.now();
    await postTo(farm.server, "/grants/remove", { principal: name, verb: "execute" }, farm.root);

    await expect(following).rejects.toMatchObject({ code: "permission_denied" });
    expect(performance.now() - takenAt).toBeLessThan(mostMs);
  }, 30_000);
});
