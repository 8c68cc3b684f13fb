/**
 * The HTTP caches beside nginx's WebDAV, in one run on one machine: 1 GiB in and out, and many objects of
 * 1 kB. `npx tsx bench/http-cache.ts [http://server [rounds]]` needs nginx with its dav module and curl; without a
 * server's address it starts the one that was built.
 */
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFarm } from "../test/support/farm.ts";

const largeBytes = 1024 ** 3;
const objects = 4_000;
const atOnce = 16;
const rounds = Number(process.argv[3] ?? 4);

const dir = await mkdtemp(join(tmpdir(), "grange-bench-http-"));
const given = process.argv[2];
const farm = given === undefined ? await startFarm({ workers: 0 }) : undefined;
const nginx = await startNginx(join(dir, "nginx"));
try {
  const large = join(dir, "large");
  const hash = await writeLarge(large);
  const url = farm?.url ?? given ?? "";
  const peers = [
    { name: "nginx", base: `${nginx.url}/`, cas: `${nginx.url}/cas/`, pid: undefined },
    {
      name: "grange",
      base: `${url}/cache/default/gradle/`,
      cas: `${url}/cache/default/bazel/cas/`,
      pid: farm?.server.pid,
    },
  ];
  const figures = new Map<string, Map<string, number>>();
  const note = (what: string, name: string, figure: number) => {
    const row = figures.get(what) ?? new Map<string, number>();
    figures.set(what, row.set(name, Math.max(figure, row.get(name) ?? 0)));
  };
  // Rounds, so that a busy moment of the machine does not fall upon one of them alone.
  for (let round = 0; round < rounds; round++) {
    // Who comes second writes to a disk that is still busy with what the first has written.
    for (const { name, base, cas, pid } of round % 2 === 0 ? peers : peers.toReversed()) {
      const key = `large${round}`;
      note("1 GiB in, MB/s", name, await curl(["-T", large, `${base}${key}`]));
      note("1 GiB in again, MB/s", name, await curl(["-T", large, `${base}${key}`]));
      note("1 GiB in by its hash, MB/s", name, await curl(["-T", large, `${cas}${hash}`]));
      note("1 GiB out, MB/s", name, await curl(["-o", "/dev/null", `${base}${key}`]));
      if (pid !== undefined) note("memory after that, MiB", name, await residentMiB(pid));
      const prefix = `${round}`;
      note("1 kB in, 1/s", name, await many("PUT", base, prefix));
      note("1 kB out, 1/s", name, await many("GET", base, prefix));
      note("1 kB missed, 1/s", name, await many("GET", base, `none${round}`));
    }
  }
  for (const [what, row] of figures) {
    const mine = row.get("grange") ?? 0;
    const theirs = row.get("nginx");
    const beside =
      theirs === undefined
        ? ""
        : `nginx ${theirs.toFixed(0).padStart(6)}   ratio ${(mine / theirs).toFixed(2)}`;
    process.stdout.write(`${what.padEnd(28)} grange ${mine.toFixed(0).padStart(6)}   ${beside}\n`);
  }
} finally {
  nginx.stop();
  await farm?.stop();
  await rm(dir, { recursive: true, force: true });
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

/** MB/s of one transfer of the large file. */
async function curl(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const child = spawn("curl", ["-sS", "--fail", ...args], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`curl ${args.join(" ")} ended with ${code}`);
  return largeBytes / 1e6 / ((performance.now() - began) / 1_000);
}

/** Requests per second, on connections that are kept. */
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

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024;
}

async function startNginx(root: string): Promise<{ url: string; stop(): void }> {
  for (const folder of ["data/cas", "temp"]) await mkdir(join(root, folder), { recursive: true });
  const port = await freePort();
  const conf = join(root, "nginx.conf");
  await writeFile(
    conf,
    `worker_processes 2; daemon off; pid ${root}/pid; error_log ${root}/error.log;
events { worker_connections 256; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000;
  client_body_temp_path ${root}/temp; client_max_body_size 4g; client_body_buffer_size 64k;
  server { listen 127.0.0.1:${port}; root ${root}/data; location / { dav_methods PUT DELETE; create_full_put_path on; } }
}`,
  );
  // As root it would take its workers' user for the files.
  const user = process.getuid?.() === 0 ? ["-g", "user root;"] : [];
  const child = spawn("nginx", ["-c", conf, ...user], { stdio: ["ignore", "ignore", "inherit"] });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries++) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, stop: () => child.kill("SIGTERM") };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        resolve(typeof address === "object" && address !== null ? address.port : 0),
      );
    });
  });
}
