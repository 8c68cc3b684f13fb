import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import { findProgram, programs } from "./needs/program.ts";

/** The registry of the distribution project, and a static program for images. */
export const registryNeed = programs("a registry of container images", {
  programs: ["docker-registry", "busybox"],
  packages: ["docker-registry", "busybox-static"],
});

export interface DockerRegistry {
  /** Such as `http://127.0.0.1:40001`. */
  readonly origin: string;
  readonly host: string;
  stop(): Promise<void>;
}

/** Starts Debian's docker-registry on a free port, with its data in a new directory. */
export async function startDockerRegistry(): Promise<DockerRegistry> {
  const directory = mkdtempSync(join(tmpdir(), "grange-registry-"));
  const port = await freePort();
  const config = join(directory, "config.yml");
  writeFileSync(
    config,
    [
      "version: 0.1",
      "log: {level: error}",
      `storage: {filesystem: {rootdirectory: ${JSON.stringify(directory)}}}`,
      `http: {addr: "127.0.0.1:${port}"}`,
    ].join("\n"),
  );
  const child = spawnWithPipes(findProgram("docker-registry") ?? "docker-registry", [
    "serve",
    config,
  ]);
  let printed = "";
  child.stderr.on("data", (part: Buffer) => (printed += part.toString()));
  child.stdout.resume();
  const exited = once(child, "exit");
  const host = `127.0.0.1:${port}`;
  const origin = `http://${host}`;
  while (!(await answers(`${origin}/v2/`))) {
    if (child.exitCode !== null) throw new Error(`docker-registry ended: ${printed}`);
    await pause(20);
  }
  return {
    origin,
    host,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    async (answer) => {
      await answer.body?.cancel();
      return answer.ok;
    },
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
