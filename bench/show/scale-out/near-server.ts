import { randomBytes } from "node:crypto";
import { type RemoteFile, remoteBuilder } from "#build-client/remote-builder.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { ActionCache } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { bucketServerNeed } from "../../../test/support/bucket-server.ts";
import type { Program } from "../../../test/support/process.ts";
import { requireNeeds } from "../require-needs.ts";
import { atMost, forInformation, type Measurement, type Row } from "../row.ts";
import { type FarRegion, longLink, withFarRegion } from "./far-region.ts";

const mebibyte = 1024 ** 2;
const smallInputs = 100;
const smallBytes = 64 * 1024;
const largeBytes = 16 * mebibyte;
const inputBytes = smallInputs * smallBytes + largeBytes;

/** Bytes of inputs that cross the link once, with requests, SQL and heartbeats. */
const mostOnce = 1.1;
/** A worker whose near server has the inputs needs nothing of them from far. */
const mostAgain = 0.05;

/** Workers in a far region, directly and behind a server that is near them. */
export const nearServer: Measurement = {
  title: "workers 80 ms away, with a server near them",
  long: true,
  measure() {
    requireNeeds([bucketServerNeed]);
    return withFarRegion(async (region) => {
      const client = builderAt(region.mainUrl);
      try {
        const inputs = await uploadInputs(client);
        const direct = await timesOf(region, client, inputs, region.mainFromFarUrl);
        const nearUrl = await region.startNearServer();
        const near = await timesOf(region, client, inputs, nearUrl);
        return [
          ...rowsOfTransfers(direct, near),
          ...(await rowsOfRoundTrips(region.mainUrl, nearUrl, await region.startWorker(nearUrl))),
        ];
      } finally {
        await client.close();
      }
    });
  },
};

type Client = ReturnType<typeof builderAt>;

function builderAt(url: string) {
  return remoteBuilder({
    url,
    project: "",
    invocation: `region-${randomBytes(4).toString("hex")}`,
    tool: { name: "show", version: "1" },
  });
}

async function uploadInputs(client: Client): Promise<RemoteFile[]> {
  const inputs = [await client.upload("large", randomBytes(largeBytes))];
  for (let i = 0; i < smallInputs; i++)
    inputs.push(await client.upload(`small-${i}`, randomBytes(smallBytes)));
  return inputs;
}

interface Transfers {
  /** Two workers with empty disks, an action each. */
  readonly two: Transfer;
  /** A third one, after them. */
  readonly third: Transfer;
}

interface Transfer {
  readonly ms: number;
  readonly bytes: number;
}

async function timesOf(
  region: FarRegion,
  client: Client,
  inputs: readonly RemoteFile[],
  server: string,
): Promise<Transfers> {
  const [one, other] = [await region.startWorker(server), await region.startWorker(server)];
  const two = await transferOf(region, () =>
    Promise.all([runAction(client, inputs, "one"), runAction(client, inputs, "other")]),
  );
  await Promise.all([one, other].map(endWorker));
  const last = await region.startWorker(server);
  const third = await transferOf(region, () => runAction(client, inputs, "third"));
  await endWorker(last);
  return { two, third };
}

async function endWorker(worker: Program): Promise<void> {
  worker.signal("SIGTERM");
  await worker.finished;
}

async function transferOf(region: FarRegion, work: () => Promise<unknown>): Promise<Transfer> {
  const [begun, before] = [performance.now(), region.carriedBytes()];
  await work();
  return { ms: performance.now() - begun, bytes: region.carriedBytes() - before };
}

/** Runs a new action that reads all inputs. It takes a second, so that one worker does not take both. */
async function runAction(client: Client, inputs: readonly RemoteFile[], name: string) {
  const nonce = randomBytes(8).toString("hex");
  const { exitCode } = await client.run({
    mnemonic: "Read",
    target: `//region:${name}`,
    arguments: ["/bin/sh", "-c", `cat ./* 2>/dev/null | wc -c > out; sleep 1; : ${nonce}`],
    environment: {},
    inputs,
    outputs: ["out"],
  });
  if (exitCode !== 0) throw new Error(`the action ${name} ended with ${exitCode}`);
}

function rowsOfTransfers(direct: Transfers, near: Transfers): Row[] {
  const how =
    `${longLink.roundTripMs} ms and 100 Mbit/s to database, bucket and main server, by a proxy; ` +
    `${smallInputs} inputs of 64 KiB and one of 16 MiB; each action sleeps 1 s`;
  const times = (bytes: number) => bytes / inputBytes;
  const withMs = ({ ms }: Transfer) => `${how}; ${(ms / 1_000).toFixed(1)} s`;
  return [
    atMost(
      "inputs over the long link, two workers behind a near server",
      times(near.two.bytes),
      mostOnce,
      "× their size",
      withMs(near.two),
    ),
    forInformation(
      "the same, two workers that connect directly",
      times(direct.two.bytes),
      "× their size",
      withMs(direct.two),
    ),
    atMost(
      "the same, a third worker behind the near server",
      times(near.third.bytes),
      mostAgain,
      "× their size",
      withMs(near.third),
    ),
    atMost(
      "time of the two actions, beside workers that connect directly",
      near.two.ms / direct.two.ms,
      1,
      "×",
      how,
    ),
    atMost(
      "time of the third one's action, beside a worker that connects directly",
      near.third.ms / direct.third.ms,
      1,
      "×",
      how,
    ),
  ];
}

const repeats = 3;

/** How many round trips to the database and the bucket a call at the near server waits for. */
async function rowsOfRoundTrips(mainUrl: string, nearUrl: string, worker: Program): Promise<Row[]> {
  const [main, near] = [new GrpcChannel({ url: mainUrl }), new GrpcChannel({ url: nearUrl })];
  const [atMain, atNear] = [remoteBlobStore(main, ""), remoteBlobStore(near, "")];
  const client = builderAt(nearUrl);
  const newBlob = () => {
    const bytes = randomBytes(1_000);
    return { digest: digestOf(bytes), bytes };
  };
  const rows: Row[] = [];
  /** The shortest of some calls: the others also open connections. */
  const measure = async <T>(
    name: string,
    prepare: () => Promise<T>,
    call: (of: T) => Promise<unknown>,
  ) => {
    let shortest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < repeats; i++) {
      const of = await prepare();
      const begun = performance.now();
      await call(of);
      shortest = Math.min(shortest, performance.now() - begun);
    }
    const how = `${shortest.toFixed(0)} ms at ${longLink.roundTripMs} ms; the shortest of ${repeats}`;
    rows.push(forInformation(name, shortest / longLink.roundTripMs, "round trips", how));
  };
  try {
    const stored = async () => {
      const blob = newBlob();
      await atMain.put(blob.digest, blob.bytes);
      return blob;
    };
    await measure(
      "FindMissingBlobs, 1,000 new digests",
      async () => Array.from({ length: 1_000 }, () => newBlob().digest),
      (digests) => atNear.findMissing(digests),
    );
    await measure("a read of a blob that the near server lacks", stored, ({ digest }) =>
      atNear.get(digest),
    );
    await measure(
      "a read of a blob on its disk",
      async () => {
        const blob = await stored();
        await atNear.get(blob.digest);
        return blob;
      },
      ({ digest }) => atNear.get(digest),
    );
    await measure(
      "a write of a small blob",
      async () => newBlob(),
      ({ digest, bytes }) => atNear.put(digest, bytes),
    );
    await measure(
      "GetActionResult, a miss",
      async () => newBlob().digest,
      (digest) =>
        near
          .unary(ActionCache.method.getActionResult, { actionDigest: toDigestMessage(digest) })
          .catch(() => undefined),
    );
    await measure(
      "an action that sleeps 1 s, from client to worker and back",
      async () => {},
      () => runAction(client, [], "round-trips"),
    );
    return rows;
  } finally {
    await Promise.all([client.close(), main.stop(), near.stop()]);
    await endWorker(worker);
  }
}
