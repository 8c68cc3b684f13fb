import { spawn, spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

/** nginx with its WebDAV module, as a cache that only stores files. */
interface Nginx {
  readonly url: string;
  stop(): Promise<void>;
}

/** Returns why it cannot be tested here; undefined when it can. */
export function whyNoNginx(): string | undefined {
  const version = spawnSync("nginx", ["-V"], { encoding: "utf8" });
  if (version.error !== undefined) return "there is no nginx (Debian: nginx-light)";
  return version.stderr.includes("http_dav_module") ? undefined : "this nginx has no WebDAV module";
}

export async function startNginx(root: string): Promise<Nginx> {
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
  // As root, nginx would create files as its workers' user.
  const user = process.getuid?.() === 0 ? ["-g", "user root;"] : [];
  const child = spawn("nginx", ["-c", conf, ...user], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100 && !(await answers(url)); tries++) await wait(50);
  return {
    url,
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
  };
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  );
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
