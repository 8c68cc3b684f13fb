import { afterAll, beforeAll, expect, test } from "vitest";
import { readingVerbs } from "#core/verb.ts";
import { ByteStream } from "#proto/google/bytestream/bytestream_pb.ts";
import { postTo } from "../../test/support/ask-server.ts";
import { aPrivateFarm } from "./private-farm.fixture.ts";

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

test.each([
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

test("the stream of a log over gRPC ends, too", async () => {
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
