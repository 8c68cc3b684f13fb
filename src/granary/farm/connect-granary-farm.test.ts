import { once } from "node:events";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { digestOf } from "#cas/digest-of.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import { digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { type FetchedItem, FetchedItemSchema } from "#proto/grange/granary/v1/granary_pb.ts";
import { slowLine } from "../../../test/support/slow-line.ts";
import { silentLogger } from "../store/granary-store.fixture.ts";
import { connectGranaryFarm } from "./connect-granary-farm.ts";
import { blobMessage, fakeFarm, packed } from "./fake-farm.fixture.ts";
import type { FetchedThing, FetchRequest } from "./granary-farm.ts";
import { noFarm } from "./no-farm.ts";

const ccache = (key: string): ResultKey => ({ namespace: "ccache", key });
const never = new AbortController().signal;

function connect(server: string) {
  const farm = connectGranaryFarm({ server, token: undefined, ca: undefined }, silentLogger);
  onTestFinished(() => farm.stop());
  return farm;
}

/** Starts a proxy on which connections can become silent forever, while new ones work. */
async function freezingProxy(port: number) {
  const sockets: Socket[] = [];
  const server = createServer((client) => {
    const upstream = connectSocket(port, "127.0.0.1");
    sockets.push(client, upstream);
    for (const socket of [client, upstream]) socket.on("error", () => {});
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

describe("looking up", () => {
  test("requests made in one turn share a call, each key once", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    const kept = await fake.has("a", ["value"], { attributes: { "x-tag": "t" }, costMs: 12 });

    const found = await Promise.all([
      farm.lookUp("p", [ccache("a")]),
      farm.lookUp("p", [ccache("a")]),
      farm.lookUp("p", [ccache("b")]),
      farm.lookUp("p", []),
    ]);

    expect(found).toEqual([[kept], [kept], [], []]);
    expect(fake.calls).toMatchObject({ lookUp: 1, keys: 2 });
  });

  test("a later request does not wait for an earlier one", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    await farm.lookUp("p", [ccache("first")]);
    let open = () => {};
    fake.gate = new Promise((resolve) => {
      open = resolve;
    });
    const slow = farm.lookUp("p", [ccache("a")]);
    while (fake.calls.lookUp < 2) await new Promise(setImmediate);
    fake.gate = undefined;

    expect(await farm.lookUp("p", [ccache("b")])).toEqual([]);
    open();
    expect(await slow).toEqual([]);
  });

  test("measures the line", async () => {
    const fake = await fakeFarm();
    const line = await slowLine(fake.port, { roundTripMs: 40 });
    onTestFinished(() => line.close());
    const farm = connect(`http://127.0.0.1:${line.port}`);
    expect(farm.line()).toBeUndefined();
    for (let n = 0; n < 3; n++) await farm.lookUp("p", [ccache("a")]);

    expect(farm.line()?.roundTripMs).toBeGreaterThan(38);
    expect(farm.line()?.roundTripMs).toBeLessThan(2_000);
  });
});

describe("a farm that is away", () => {
  test("is detected once, and probed in the background until it is back", async () => {
    const fake = await fakeFarm();
    const line = await slowLine(fake.port, { roundTripMs: 0 });
    onTestFinished(() => line.close());
    const farm = connect(`http://127.0.0.1:${line.port}`);
    const kept = await fake.has("a", ["value"]);
    line.cut("refused");
    await expect(farm.lookUp("p", [ccache("a")])).rejects.toMatchObject({ code: "unavailable" });
    expect(farm.isAway()).toBe(true);

    line.mend();
    while (farm.isAway()) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await farm.lookUp("p", [ccache("a")])).toEqual([kept]);
  });

  test("that accepts connections but stays silent is unreachable after a second or two", async () => {
    const fake = await fakeFarm();
    const line = await slowLine(fake.port, { roundTripMs: 0 });
    onTestFinished(() => line.close());
    const farm = connect(`http://127.0.0.1:${line.port}`);
    line.cut("silent");
    const begun = performance.now();
    await expect(farm.lookUp("p", [ccache("a")])).rejects.toMatchObject({ code: "unavailable" });
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(farm.isAway()).toBe(true);
  });

  test("whose connection died silently is reached over another one", async () => {
    const fake = await fakeFarm();
    const kept = await fake.has("a", ["value"]);
    const way = await freezingProxy(fake.port);
    const farm = connect(`http://127.0.0.1:${way.port}`);
    expect(await farm.lookUp("p", [ccache("a")])).toEqual([kept]);

    way.freeze();
    await expect(farm.lookUp("p", [ccache("a")])).rejects.toMatchObject({
      code: "deadline_exceeded",
    });
    while (farm.isAway()) await new Promise((resolve) => setTimeout(resolve, 20));

    expect(await farm.lookUp("p", [ccache("a")])).toEqual([kept]);
    expect(await farm.blobs("p").get(kept.value)).toEqual(Buffer.from("value"));
  });

  test("that hangs during its work is unreachable after the timeout of one call", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    fake.gate = new Promise(() => {});
    await expect(farm.lookUp("p", [ccache("a")])).rejects.toMatchObject({
      code: "deadline_exceeded",
    });
    expect(farm.isAway()).toBe(true);
  });
});

test.each([
  [
    "that does not know granaries",
    async () => connect((await fakeFarm({ withService: false })).url),
  ],
  ["that is not configured", async () => noFarm()],
])("a farm %s has nothing", async (_, open) => {
  const farm = await open();
  const request: FetchRequest = { kind: "result", key: ccache("a") };

  expect(await farm.lookUp("p", [ccache("a")])).toEqual([]);
  expect(await all(farm.fetch("p", [request], never))).toEqual([{ kind: "absent", request }]);
  const build = {
    project: "p",
    repository: "",
    commits: [],
    tree: "",
    branch: "",
    environment: "e",
  };
  expect((await farm.resolve(build)).indexes).toEqual([]);
  expect(farm.isAway()).toBe(false);
  expect(await farm.blobs("p").get(digestOf(Buffer.from("x")))).toBeUndefined();
});

describe("fetching", () => {
  const blob = (text: string): FetchRequest => ({
    kind: "blob",
    digest: digestOf(Buffer.from(text)),
  });
  const part = (text: string, of: string, offset: number): FetchedItem =>
    create(FetchedItemSchema, {
      item: {
        case: "blob",
        value: { digest: blobMessage(of), offset: BigInt(offset), data: Buffer.from(text) },
      },
    });

  test("returns the requested items in order, and reports missing ones", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    const kept = await fake.has("a", ["value", "blob of the result"]);
    const requests: FetchRequest[] = [
      { kind: "result", key: ccache("a") },
      blob("value"),
      blob("blob of the result"),
      blob("not there"),
      { kind: "result", key: ccache("nor this") },
      // An empty blob, and one that occurs twice.
      blob(""),
      blob("value"),
    ];

    const things = await all(farm.fetch("p", requests, never));

    expect(things[0]).toEqual({ kind: "result", result: kept });
    const bytes = new Map<string, Buffer>();
    for (const thing of things) {
      if (thing.kind !== "part") continue;
      const key = digestKey(thing.digest);
      bytes.set(key, Buffer.concat([bytes.get(key) ?? Buffer.alloc(0), thing.data]));
    }
    for (const [key, data] of bytes) expect(digestKey(digestOf(data))).toBe(key);
    expect([...bytes.values()].map(String)).toEqual(["value", "blob of the result", ""]);
    const absent = things.filter((thing: FetchedThing) => thing.kind === "absent");
    expect(absent.map(({ request }) => request)).toEqual([requests[3], requests[4]]);
  });

  test("returns blobs with BLAKE3 digests, whose hashes are as long as those of SHA-256", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    const data = Buffer.from("a client's own");
    const [here, absent] = [digestOf(data, "blake3"), digestOf(Buffer.from("gone"), "blake3")];
    await fake.blobs.put(here, data);
    const requests = [here, absent].map((digest): FetchRequest => ({ kind: "blob", digest }));

    const things = await all(farm.fetch("p", requests, never));

    const parts = things.flatMap((thing) => (thing.kind === "part" ? thing : []));
    expect(parts.map(({ digest }) => digest)).toEqual([here, here]);
    expect(Buffer.concat(parts.map((each) => each.data))).toEqual(data);
    expect(things.at(-1)).toEqual({ kind: "absent", request: requests[1] });
  });

  test.each<[string, readonly FetchedItem[]]>([
    ["what was not asked for", [part("other", "other", 0)]],
    ["a blob twice", [part("value", "value", 0), part("value", "value", 0)]],
    ["more than all of a blob", [part("value and more", "value", 0)]],
    ["a part out of order", [part("lue", "value", 2)]],
    ["parts without end", [part("", "value", 0)]],
    ["half a blob", [part("va", "value", 0)]],
    ["one blob inside of another", [part("va", "value", 0), part("x", "second", 0)]],
    ["nothing known", [create(FetchedItemSchema, {})]],
  ])("a stream that has %s is refused", async (_, items) => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    fake.packs = async function* () {
      yield await packed(items);
    };

    await expect(
      all(farm.fetch("p", [blob("value"), blob("second")], never)),
    ).rejects.toMatchObject({ code: "data_loss" });
    expect(farm.isAway()).toBe(false);
  });

  test("a frame that would expand to gigabytes, or to another size than it states, is rejected", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    const honest = await packed([part("value", "value", 0)]);
    for (const unpackedBytes of [2 ** 32 - 1, honest.unpackedBytes - 1, honest.unpackedBytes + 1]) {
      fake.packs = async function* () {
        yield { ...honest, unpackedBytes };
      };
      await expect(all(farm.fetch("p", [blob("value")], never))).rejects.toBeInstanceOf(Fault);
    }
  });

  test("invalid bytes in a frame end the stream, and affect nothing else", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(1_000), async (bytes, size) => {
        fake.packs = async function* () {
          yield { packed: bytes, unpackedBytes: size };
        };
        const things = await all(farm.fetch("p", [blob("value")], never)).catch(() => []);
        expect(things.every(({ kind }) => kind === "absent")).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test("items that are not sent until the end are missing", async () => {
    const fake = await fakeFarm();
    const farm = connect(fake.url);
    fake.packs = async function* () {};
    const requests = [blob("value"), blob("second")];
    expect(await all(farm.fetch("p", requests, never))).toEqual(
      requests.map((request) => ({ kind: "absent", request })),
    );
  });
});

test("publishing returns an answer for each result, in order", async () => {
  const fake = await fakeFarm();
  const farm = connect(fake.url);
  const results = [await fake.has("a", ["1", "2"], { costMs: 3.4 }), await fake.has("b", ["2"])];

  const ends = await farm.publishResults("p", results);

  expect(ends).toHaveLength(2);
  expect(fake.published).toEqual([{ ...results[0], costMs: 3 }, results[1]]);
});
