/** Kills a worker while it has to do with an image, and starts another one on the same directory. */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import { findProgram } from "../../../../test/support/needs/program.ts";
import { bundledProgram } from "../../run-jobs.fixture.ts";
import {
  type KilledWorkerSettings,
  killedWorkerProgram,
  type LineOfJob,
  LineOfResult,
} from "./kill-rounds-worker.fixture.ts";

/** The moment at which a worker is killed. */
export type KillStage = "pull" | "unpack" | "run";

const filesOfLayer = 1_500;
const longestWaitMs = 30_000;

export class KillRounds {
  readonly #directory = mkdtempSync(join(tmpdir(), "grange-kill-"));
  readonly #dataDir = join(this.#directory, "data");
  readonly #program = join(this.#directory, killedWorkerProgram);
  readonly #server: Server;
  readonly #blobs = new Map<string, Buffer>();
  #holdsBlobs = false;
  #heldBlobs = 0;
  /** The paths outside of the images after the first round that settled. */
  #usual: ReadonlySet<string> | undefined;
  /** The one that ran the image after the last kill. */
  #worker: ChildProcessWithoutNullStreams | undefined;

  private constructor() {
    this.#server = createServer((request, response) => {
      const bytes = this.#blobs.get(request.url?.split("/").at(-1) ?? "");
      const isLarge = (bytes?.length ?? 0) > 1_000_000;
      if (bytes === undefined) response.writeHead(404).end();
      else if (this.#holdsBlobs && isLarge) {
        response.writeHead(200, { "content-length": bytes.length });
        response.write(bytes.subarray(0, bytes.length / 2), () => this.#heldBlobs++);
      } else response.end(bytes);
    });
  }

  static async open(): Promise<KillRounds> {
    const rounds = new KillRounds();
    const program = join(import.meta.dirname, "kill-rounds-worker.fixture.ts");
    writeFileSync(rounds.#program, await bundledProgram(program));
    rounds.#server.listen(0, "127.0.0.1");
    await once(rounds.#server, "listening");
    return rounds;
  }

  /**
   * Returns what was wrong after the kill; nothing when the next worker ran the image and all traces are gone.
   *
   * Starting workers takes most of the time. Without `settles`, the next worker goes on to be the killed one of the next
   * round, and what it leaves on the disk is found by the next round that settles.
   */
  async round(stage: KillStage, { settles }: { readonly settles: boolean }): Promise<string[]> {
    const marker = `${100_000 + Math.floor(Math.random() * 800_000)}`;
    const image = this.#newImage();
    this.#holdsBlobs = stage === "pull";
    this.#heldBlobs = 0;
    const killed = this.#worker ?? this.#startWorker();
    this.#worker = killed;
    send(killed, { script: `busybox sleep ${marker}`, image });
    await until(`the worker reached the stage ${stage}`, () => this.#isAt(stage, marker));
    await this.#killWorker();
    await until("the processes of the killed worker ended", () => this.#processes(marker) === 0);
    this.#holdsBlobs = false;
    this.#server.closeAllConnections();

    const problems: string[] = [];
    const next = this.#startWorker();
    this.#worker = next;
    send(next, { script: "echo in the image", image });
    const { stdout, message } = await resultFrom(next);
    if (stdout !== "in the image\n") problems.push(`the next worker printed ${stdout}: ${message}`);
    if (readFileSync("/proc/self/mountinfo", "utf8").includes(this.#directory))
      problems.push("a mount is left");
    return settles ? [...problems, ...(await this.#settle())] : problems;
  }

  /** Stops the worker, and returns what is left. */
  async #settle(): Promise<string[]> {
    await this.#stopWorker();
    const problems: string[] = [];
    const images = this.#images() ?? "";
    const left = readdirSync(join(images, "temp"));
    if (left.length > 0) problems.push(`left in temp: ${left.join(" ")}`);
    for (const layer of readdirSync(join(images, "layers"))) {
      const files = readdirSync(join(images, "layers", layer));
      if (!files.includes("index.json")) problems.push(`layer ${layer} has no index`);
    }
    if (processesWith(this.#directory) > 0) problems.push("a process of a worker is left");
    return [...problems, ...this.#newPaths()];
  }

  #startWorker(): ChildProcessWithoutNullStreams {
    const settings: KilledWorkerSettings = {
      dataDir: this.#dataDir,
      registries: `http://${this.#host()}`,
      privateHosts: ["127.0.0.1"],
    };
    const child = spawnWithPipes(process.execPath, [this.#program, JSON.stringify(settings)]);
    child.stderr.resume();
    // It is killed while a line may still be on its way.
    child.stdin.on("error", () => {});
    return child;
  }

  async #stopWorker(): Promise<void> {
    this.#worker?.stdin.end();
    await this.#untilExited();
  }

  async #killWorker(): Promise<void> {
    this.#worker?.kill("SIGKILL");
    await this.#untilExited();
  }

  async #untilExited(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    if (worker !== undefined && worker.exitCode === null && worker.signalCode === null)
      await once(worker, "exit");
  }

  #processes(marker: string): number {
    return processesWith(marker) + processesWith(this.#directory);
  }

  /** Returns what is on the disk besides images, and was not after the first round that settled. */
  #newPaths(): string[] {
    const images = this.#images() ?? "";
    const paths = readdirSync(this.#dataDir, { recursive: true, withFileTypes: true })
      .map((entry) => join(entry.parentPath, entry.name))
      .filter(
        (path) => !["layers", "roots", "in-use"].some((kept) => isBelow(join(images, kept), path)),
      );
    this.#usual ??= new Set(paths);
    const usual = this.#usual;
    // Files of one worker's process have another name in the next one; more of them would be a leak.
    const grown = paths.length - usual.size;
    if (grown <= 0) return [];
    const added = paths.filter((path) => !usual.has(path));
    return [`${grown} more files than after the first round: ${added.slice(0, 5).join(" ")}`];
  }

  async close(): Promise<void> {
    // There is one only after a failure, or a round that did not settle.
    await this.#killWorker();
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #newImage(): string {
    this.#blobs.clear();
    const noise = randomBytes(filesOfLayer * 1_024);
    const layer = tarOf([
      {
        path: "bin/busybox",
        content: readFileSync(findProgram("busybox") ?? "/dev/null"),
        mode: 0o755,
      },
      { path: "bin/sh", type: "2", target: "busybox" },
      ...Array.from({ length: filesOfLayer }, (_, n) => ({
        path: `files/${n}`,
        content: noise.subarray(n * 1_024, (n + 1) * 1_024),
      })),
    ]);
    const image = buildImage([layer], { Env: ["PATH=/bin"] });
    for (const [digest, bytes] of image.blobs) this.#blobs.set(digest, bytes);
    this.#blobs.set(image.digest, image.manifest);
    return `docker://${this.#host()}/kill/image@${image.digest}`;
  }

  #host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  #isAt(stage: KillStage, marker: string): boolean {
    switch (stage) {
      case "pull":
        return this.#heldBlobs > 0;
      case "unpack": {
        const temp = join(this.#images() ?? "", "temp");
        return (
          existsSync(temp) && readdirSync(temp).some((name) => existsSync(join(temp, name, "10")))
        );
      }
      case "run":
        return processesWith(`sleep\0${marker}`) > 0;
    }
  }

  #images(): string | undefined {
    if (!existsSync(this.#dataDir)) return undefined;
    const own = readdirSync(this.#dataDir).find((entry) => entry.startsWith("of-user-"));
    return join(this.#dataDir, own ?? "", "images");
  }
}

function send(worker: ChildProcessWithoutNullStreams, job: LineOfJob): void {
  worker.stdin.write(`${JSON.stringify(job)}\n`);
}

/** Returns the next result of a worker. Throws when it ends before. */
async function resultFrom(worker: ChildProcessWithoutNullStreams) {
  let printed = "";
  for await (const part of worker.stdout.iterator({ destroyOnReturn: false })) {
    printed += String(part);
    if (printed.endsWith("\n")) return LineOfResult.parse(JSON.parse(printed));
  }
  throw new Error("the next worker ended without a result");
}

function isBelow(directory: string, path: string): boolean {
  return path.startsWith(`${directory}/`);
}

function processesWith(text: string): number {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  }).length;
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const end = Date.now() + longestWaitMs;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`it took too long until ${what}`);
    await pause(2);
  }
}
