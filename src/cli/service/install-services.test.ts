import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installServices, uninstallServices } from "./install-services.ts";
import { planServices } from "./plan-services.ts";
import { parseStates } from "./service-states.ts";
import { openSystemctl } from "./systemd.ts";

/** Services of a user whose home is a temporary directory, and the arguments of the systemctl calls. */
async function servicesOfSomebody() {
  const home = await mkdtemp(join(tmpdir(), "grange-service-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const services = planServices({
    roles: ["server", "worker"],
    scope: { kind: "user", home, configHome: join(home, ".config") },
    grange: [process.execPath, "/opt/grange.js"],
    settings: { GRANGE_STORE_LIMIT: "20G" },
  });
  const calls: string[] = [];
  const systemctl = async (words: readonly string[]) => {
    calls.push(words.join(" "));
    return "";
  };
  return { home, services, systemctl, calls };
}

test("settings are readable by their owner only, and services are enabled and started", async () => {
  const { services, systemctl, calls } = await servicesOfSomebody();

  await installServices(services, systemctl);

  for (const { environmentFile, unitFile, unitText } of services) {
    expect((await stat(environmentFile)).mode & 0o777).toBe(0o600);
    expect((await stat(unitFile)).mode & 0o777).toBe(0o644);
    expect(await readFile(unitFile, "utf8")).toBe(unitText);
  }
  expect(calls).toEqual([
    "daemon-reload",
    "enable grange-server.service grange-worker.service",
    "restart grange-server.service grange-worker.service",
  ]);
});

test("a second installation keeps what somebody added to the settings", async () => {
  const { services, systemctl } = await servicesOfSomebody();
  await installServices(services, systemctl);
  const file = services[0]?.environmentFile ?? "";
  await writeFile(file, `${await readFile(file, "utf8")}GRANGE_HOST=0.0.0.0\n`);

  await installServices(services, systemctl);

  expect(await readFile(file, "utf8")).toContain("GRANGE_HOST=0.0.0.0\n");
});

test("removed services leave their settings", async () => {
  const { home, services, systemctl, calls } = await servicesOfSomebody();
  await installServices(services, systemctl);

  await uninstallServices(services, systemctl);

  expect(await readdir(join(home, ".config", "systemd", "user"))).toEqual([]);
  expect(await readdir(join(home, ".config", "grange"))).toEqual(["server.env", "worker.env"]);
  expect(calls.slice(3)).toEqual([
    "disable --now grange-server.service grange-worker.service",
    "daemon-reload",
  ]);
});

test("a machine without systemd is refused with a way out", async () => {
  const { home } = await servicesOfSomebody();

  await expect(openSystemctl("system", join(home, "not-booted"))).rejects.toThrow(
    /this machine does not use systemd.*--dry-run/,
  );
});

test("the answer of systemctl is read by unit", () => {
  const block = (id: string, state: string) =>
    `MainPID=7\nNRestarts=1\nActiveEnterTimestamp=Mon 2026-11-23 10:00:00 UTC\nId=${id}\nActiveState=${state}\nSubState=running`;

  expect(
    parseStates(`${block("a.service", "active")}\n\n${block("b.service", "failed")}\n`),
  ).toMatchObject([
    { unit: "a.service", state: "active", pid: 7, restarts: 1 },
    { unit: "b.service", state: "failed" },
  ]);
});
