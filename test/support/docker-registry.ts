import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { spawnWithPipes } from "#machine/spawn-with-pipes.ts";
import { freePort } from "./free-port.ts";
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

/** The only user of a registry with a password, as a registry's file of users has it: bcrypt of the password. */
export const registryUser = {
  user: "tester",
  password: "pull-password-1",
  line: "tester:$2y$05$abcdefghijklmnopqrstuuRFV1NtE/nO69p.r9VUL6TiEuVU4oGtW",
};

/** The header with which this user writes to a registry. */
export const asRegistryUser = {
  authorization: `Basic ${Buffer.from(`${registryUser.user}:${registryUser.password}`).toString("base64")}`,
};

/**
 * Starts Debian's docker-registry on a free port, with its data in a new directory; with `isPrivate`, only for
 * `registryUser`.
 */
export async function startDockerRegistry({ isPrivate = false } = {}): Promise<DockerRegistry> {
  const directory = mkdtempSync(join(tmpdir(), "grange-registry-"));
  const port = await freePort();
  const config = join(directory, "config.yml");
  const users = join(directory, "users");
  writeFileSync(users, `${registryUser.line}\n`);
  writeFileSync(
    config,
    [
      "version: 0.1",
      "log: {level: error}",
      `storage: {filesystem: {rootdirectory: ${JSON.stringify(directory)}}}`,
      `http: {addr: "127.0.0.1:${port}"}`,
      ...(isPrivate ? [`auth: {htpasswd: {realm: tests, path: ${JSON.stringify(users)}}}`] : []),
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
      return answer.ok || answer.status === 401;
    },
    () => false,
  );
}
