import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { remoteBuilder } from "#build-client/remote-builder.ts";
import { Digest } from "#core/digest.ts";
import { Fault, type FaultCode } from "#core/fault.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { runGrange } from "../support/run-grange.ts";
import { sampleRepository } from "../support/sample-repository.ts";

/** What clients of a farm saw while its servers were replaced. */
export interface SeenByClients {
  /** Errors that a client's default retries did not cure. */
  readonly errors: readonly string[];
  readonly actions: number;
  readonly uploads: number;
  readonly commands: number;
}

const mebibyte = 1024 ** 2;
const uploadBytes = 4 * mebibyte;
const pauseMs = 200;

/** A job that runs while a server is killed. */
const followed = `
version: 1
jobs:
  slow: { inputs: [], commands: "for i in 1 2 3 4 5 6; do echo line $i; sleep 0.3; done" }
`;

/**
 * Starts a build tool, uploads and commands that repeat what they do; `end` waits for their calls and reads all uploads.
 */
export async function startClients(
  url: string,
): Promise<{ readonly end: () => Promise<SeenByClients> }> {
  const repository = await sampleRepository({ ".grange/farm.yml": followed });
  const errors: string[] = [];
  let isOver = false;
  let actions = 0;
  let commands = 0;
  const uploaded: Digest[] = [];

  const repeat = async (what: string, once: () => Promise<void>) => {
    while (!isOver)
      await once()
        .catch((reason: unknown) => {
          errors.push(`${what}: ${String(reason)}`);
        })
        // The machine has other work than that of the clients.
        .then(() => delay(pauseMs));
  };
  const builder = remoteBuilder({
    url,
    project: "",
    invocation: randomUUID(),
    tool: { name: "bazel", version: "8" },
  });
  const build = async () => {
    const text = randomUUID();
    const result = await likeBazel(() =>
      builder.run({
        mnemonic: "Copy",
        target: "//copy",
        arguments: ["/bin/sh", "-c", `sleep 0.1; echo ${text} > out`],
        environment: {},
        inputs: [],
        outputs: ["out"],
      }),
    );
    if (result.exitCode !== 0) throw new Error(`exit code ${result.exitCode}`);
    const [output] = result.outputs;
    const bytes = output && (await likeBazel(() => blobs.get(output.digest)));
    if (
      Buffer.from(bytes ?? [])
        .toString()
        .trim() !== text
    )
      throw new Error("a wrong output");
    actions++;
  };
  const channel = new GrpcChannel({ url });
  const blobs = remoteBlobStore(channel, "");
  const upload = async () => {
    const bytes = randomBytes(uploadBytes);
    const hash = createHash("sha256").update(bytes).digest("hex");
    const digest = Digest.parse({ hash, sizeBytes: bytes.length });
    await likeBazel(() => blobs.write(digest, chunksOf(bytes)));
    uploaded.push(digest);
  };
  const follow = async () => {
    await repository.commit({ "round.txt": randomUUID() });
    const args = ["submit", "--repo", repository.path, "--server", url, "--wait", "--no-cache"];
    const { code, stderr } = await runGrange(args);
    if (code !== 0) throw new Error(`grange submit --wait ended with ${code}: ${stderr}`);
    commands++;
  };
  const running = [
    repeat("an action", build),
    repeat("an upload", upload),
    repeat("a command", follow),
  ];
  return {
    async end() {
      isOver = true;
      await Promise.all(running);
      for (const digest of uploaded) {
        const hash = createHash("sha256");
        for await (const chunk of (await blobs.read(digest)) ?? []) hash.update(chunk);
        if (hash.digest("hex") !== digest.hash) errors.push("an acknowledged upload is lost");
      }
      await Promise.all([builder.close(), channel.stop(), repository.remove()]);
      return { errors, actions, uploads: uploaded.length, commands };
    },
  };
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += mebibyte) yield bytes.subarray(at, at + mebibyte);
}

/** The default of Bazel's --remote_retries, and which errors it retries. */
const retries = 5;
const retried: ReadonlySet<FaultCode> = new Set([
  "unavailable",
  "aborted",
  "internal",
  "deadline_exceeded",
  "resource_exhausted",
  "cancelled",
]);

async function likeBazel<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (reason) {
      if (attempt >= retries || !(reason instanceof Fault) || !retried.has(reason.code))
        throw reason;
    }
    await delay(100 * 1.6 ** attempt);
  }
}
