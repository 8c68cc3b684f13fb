/** Kills a worker while it has to do with an image, and starts another one on the same directory. */

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
import { bundledProgram, JobsRun, runJobsCommand } from "../../run-jobs.fixture.ts";

/** The moment at which a worker is killed. */
export type KillStage = "pull" | "unpack" | "run";

const filesOfLayer = 1_500;
const longestWaitMs = 30_000;

export class KillRounds {
  readonly #directory = mkdtempSync(join(tmpdir(), "grange-kill-"));
  readonly #dataDir = join(this.#directory, "data");
  readonly #program = join(this.#directory, "run-jobs.mjs");
  readonly #server: Server;
  readonly #blobs = new Map<string, Buffer>();
  #holdsBlobs = false;
  #heldBlobs = 0;
  /** The paths outside of the images after the first round. */
  #usual: ReadonlySet<string> | undefined;

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
    writeFileSync(rounds.#program, await bundledProgram());
    rounds.#server.listen(0, "127.0.0.1");
    await once(rounds.#server, "listening");
    return rounds;
  }

  /** Returns what was wrong after the kill; nothing when the next worker ran the image and all traces are gone. */
  async round(stage: KillStage): Promise<string[]> {
    const marker = `${100_000 + Math.floor(Math.random() * 800_000)}`;
    const name = this.#newImage();
    this.#holdsBlobs = stage === "pull";
    this.#heldBlobs = 0;
    const [node = "", ...args] = this.#command(name, `busybox sleep ${marker}`);
    const killed = spawnWithPipes(node, args);
    killed.stdout.resume();
    killed.stderr.resume();
    const exited = once(killed, "exit");
    await until(`the worker reached the stage ${stage}`, () => this.#isAt(stage, marker));
    killed.kill("SIGKILL");
    await exited;
    await until("the processes of the killed worker ended", () => processesWith(marker) === 0);
    this.#holdsBlobs = false;
    this.#server.closeAllConnections();

    const problems: string[] = [];
    const { ended } = await this.#run(name);
    if (ended[0]?.stdout !== "in the image\n") problems.push(JSON.stringify(ended[0]));
    const images = this.#images() ?? "";
    const left = readdirSync(join(images, "temp"));
    if (left.length > 0) problems.push(`left in temp: ${left.join(" ")}`);
    for (const layer of readdirSync(join(images, "layers"))) {
      const files = readdirSync(join(images, "layers", layer));
      if (!files.includes("index.json")) problems.push(`layer ${layer} has no index`);
    }
    if (readFileSync("/proc/self/mountinfo", "utf8").includes(this.#directory))
      problems.push("a mount is left");
    if (processesWith(this.#directory) > 0) problems.push("a process of a worker is left");
    problems.push(...this.#newPaths());
    return problems;
  }

  /** Returns what is on the disk besides images, and was not after the first round. */
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
    this.#server.closeAllConnections();
    this.#server.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #newImage(): string {
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

  #command(image: string, script: string): string[] {
    return runJobsCommand(this.#program, {
      jobs: [{ script, platform: { "container-image": image } }],
      settings: {
        dataDir: this.#dataDir,
        registries: `http://${this.#host()}`,
        privateHosts: ["127.0.0.1"],
      },
    });
  }

  async #run(image: string): Promise<JobsRun> {
    const [node = "", ...args] = this.#command(image, "echo in the image");
    const child = spawnWithPipes(node, args);
    let printed = "";
    let complaints = "";
    child.stdout.on("data", (part: Buffer) => (printed += part.toString()));
    child.stderr.on("data", (part: Buffer) => (complaints += part.toString()));
    await once(child, "close");
    if (printed === "") throw new Error(`the next worker failed: ${complaints}`);
    return JobsRun.parse(JSON.parse(printed));
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
