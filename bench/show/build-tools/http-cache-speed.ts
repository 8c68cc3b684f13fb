import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFarm } from "../../../test/support/farm.ts";
import { forInformation, type Measurement, type Row } from "../row.ts";
import { startNginx, whyNoNginx } from "./nginx.ts";

const largeBytes = 1024 ** 3;
const objects = 4_000;
const atOnce = 16;
const rounds = 2;

/** One of the two compared servers. */
interface Peer {
  readonly name: "Grange" | "nginx";
  readonly base: string;
  readonly cas: string;
}

/**
 * The HTTP caches compared with nginx's WebDAV, in one run on one machine: 1 GiB in and out, and many objects of 1 kB.
 */
export const httpCacheSpeed: Measurement = {
  title: "HTTP caches beside nginx's WebDAV",
  long: false,
  async measure() {
    const whyNot = whyNoNginx();
    const name = "HTTP cache beside nginx";
    if (whyNot !== undefined)
      return [{ name, figure: null, unit: "", goal: "measured", holds: false, how: whyNot }];
    const dir = await mkdtemp(join(tmpdir(), "grange-show-http-"));
    const farm = await startFarm({ workers: 0 });
    const nginx = await startNginx(join(dir, "nginx"));
    try {
      const cache = `${farm.url}/cache/default`;
      const rows = await compare(join(dir, "large"), [
        { name: "nginx", base: `${nginx.url}/`, cas: `${nginx.url}/cas/` },
        { name: "Grange", base: `${cache}/gradle/`, cas: `${cache}/bazel/cas/` },
      ]);
      const memory = await peakMiB(farm.server.pid);
      const how = "VmHWM of its process, after all of it";
      return [...rows, forInformation("HTTP cache: server's memory at most", memory, "MiB", how)];
    } finally {
      await nginx.stop();
      await farm.stop();
      await rm(dir, { recursive: true, force: true });
    }
  },
};

async function compare(large: string, peers: readonly Peer[]): Promise<Row[]> {
  const hash = await writeLarge(large);
  const best = new Map<string, Map<Peer["name"], number>>();
  const note = (what: string, name: Peer["name"], figure: number) => {
    const figures = best.get(what) ?? new Map<Peer["name"], number>();
    best.set(what, figures.set(name, Math.max(figure, figures.get(name) ?? 0)));
  };
  for (let round = 0; round < rounds; round++) {
    // The second one writes to a disk that is still busy with the writes of the first.
    for (const { name, base, cas } of round % 2 === 0 ? peers : peers.toReversed()) {
      const key = `large${round}`;
      note("1 GiB in, MB/s", name, await curl(["-T", large, `${base}${key}`]));
      note("1 GiB in by its hash, MB/s", name, await curl(["-T", large, `${cas}${hash}`]));
      note("1 GiB out, MB/s", name, await curl(["-o", "/dev/null", `${base}${key}`]));
      note("1 kB in, 1/s", name, await many("PUT", base, `${round}`));
      note("1 kB out, 1/s", name, await many("GET", base, `${round}`));
      note("1 kB missed, 1/s", name, await many("GET", base, `none${round}`));
    }
  }
  return [...best].flatMap(([what, figures]) => {
    const [title = "", unit = ""] = what.split(", ");
    const [ours, theirs] = [figures.get("Grange") ?? 0, figures.get("nginx") ?? 0];
    const how = `best of ${rounds} rounds by turns, ${title.startsWith("1 kB") ? `${objects} objects, ${atOnce} at a time` : "curl"}; nginx, which neither hashes nor knows who asks: ${theirs.toFixed(0)} ${unit}`;
    return [
      forInformation(`HTTP cache: ${title}`, ours, unit, how),
      forInformation(`HTTP cache: ${title}, beside nginx`, ours / theirs, "×", how),
    ];
  });
}

async function writeLarge(path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(path, "w");
  const part = randomBytes(1024 * 1024);
  for (let at = 0; at < largeBytes; at += part.byteLength) {
    part.writeUInt32LE(at / part.byteLength);
    hash.update(part);
    await file.write(part);
  }
  await file.close();
  return hash.digest("hex");
}

/** Returns the MB/s of one transfer of the large file. */
async function curl(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn("curl", ["-sS", "--fail", ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`curl ${args.join(" ")} ended with ${code}`);
  return largeBytes / 1e6 / ((performance.now() - began) / 1_000);
}

/** Returns the requests per second, on persistent connections. */
async function many(method: string, base: string, prefix: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < objects) {
        const n = next++;
        const body = method === "PUT" ? Buffer.alloc(1_000, `${prefix} ${n} `) : undefined;
        await one(agent, method, `${base}${prefix}-${n}`, body);
      }
    }),
  );
  agent.destroy();
  return objects / ((performance.now() - began) / 1_000);
}

function one(agent: Agent, method: string, url: string, body: Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-length": body.byteLength };
    const sent = request(url, { agent, method, headers }, (response) => {
      response.resume();
      response.once("end", resolve);
    });
    sent.once("error", reject);
    sent.end(body);
  });
}

async function peakMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1_024;
}
