import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import { diskDirectory } from "./disk-directory.ts";
import { freePort } from "./free-port.ts";
import type { Need } from "./needs/needs.ts";
import { findProgram } from "./needs/program.ts";

const program = "versitygw";

/** A server of S3 that keeps buckets in a directory: Versity S3 Gateway (Apache-2.0). */
export const bucketServerNeed: Need = {
  name: "a server of S3",
  missing: findProgram(program) === undefined ? `not installed: ${program}` : undefined,
  remedy: {
    kind: "command",
    command:
      "GOBIN=/usr/local/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 (Go 1.25)",
  },
};

export interface BucketServer {
  readonly endpoint: URL;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The files of the objects. */
  readonly directory: string;
  /** Stops to answer, and keeps the connections. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Starts a server of S3 on a free port, with one empty bucket. */
export async function startBucketServer(): Promise<BucketServer> {
  const top = mkdtempSync(join(diskDirectory(), "grange-bucket-"));
  const bucket = "farm";
  const directory = join(top, "objects", bucket);
  mkdirSync(directory, { recursive: true });
  mkdirSync(join(top, "attributes"));
  const [accessKeyId, secretAccessKey] = ["test-key", "test-secret"];
  const port = await freePort();
  const child = spawnWithPipes(
    findProgram(program) ?? program,
    [
      "--quiet",
      `--access=${accessKeyId}`,
      `--secret=${secretAccessKey}`,
      `--port=127.0.0.1:${port}`,
      "--health=/health",
      "posix",
      `--sidecar=${join(top, "attributes")}`,
      join(top, "objects"),
    ],
    { env: { ...process.env, HOME: top } },
  );
  let printed = "";
  child.stdout.on("data", (part: Buffer) => (printed += part.toString()));
  child.stderr.on("data", (part: Buffer) => (printed += part.toString()));
  const exited = once(child, "exit");
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  while (!(await answers(new URL("/health", endpoint)))) {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${printed}`);
    await pause(20);
  }
  return {
    endpoint,
    bucket,
    accessKeyId,
    secretAccessKey,
    directory,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async stop() {
      child.kill("SIGKILL");
      await exited;
      rmSync(top, { recursive: true, force: true });
    },
  };
}

function answers(url: URL): Promise<boolean> {
  return fetch(url).then(
    async (answer) => {
      await answer.body?.cancel();
      return true;
    },
    () => false,
  );
}
