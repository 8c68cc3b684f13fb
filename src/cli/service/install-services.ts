import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { mergedEnvironmentText } from "./environment-file.ts";
import type { PlannedService } from "./plan-services.ts";
import type { Systemctl } from "./systemd.ts";

/** Writes units and environment files, and starts the services now and at every boot. */
export async function installServices(
  services: readonly PlannedService[],
  systemctl: Systemctl,
): Promise<void> {
  for (const service of services) {
    const existing = await readFile(service.environmentFile, "utf8").catch(() => undefined);
    const environment = mergedEnvironmentText(existing, service.environment);
    await writeWhole(service.environmentFile, environment, 0o600);
    await writeWhole(service.unitFile, service.unitText, 0o644);
  }
  const names = services.map((service) => service.unitName);
  await systemctl(["daemon-reload"]);
  await systemctl(["enable", ...names]);
  // Also when they already run with earlier settings.
  await systemctl(["restart", ...names]);
}

/** Stops services and removes their units. Data and environment files stay. */
export async function uninstallServices(
  services: readonly Pick<PlannedService, "unitName" | "unitFile">[],
  systemctl: Systemctl,
): Promise<void> {
  const names = services.map((service) => service.unitName);
  await systemctl(["disable", "--now", ...names]);
  for (const { unitFile } of services) await rm(unitFile, { force: true });
  await systemctl(["daemon-reload"]);
}

/** A reader never sees a partial file, nor a secret before its mode is set. */
async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.new`;
  await rm(beside, { force: true });
  await writeFile(beside, text, { mode });
  await chmod(beside, mode);
  await rename(beside, file);
}
