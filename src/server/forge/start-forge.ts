import { type ForgeModule, openForgeModule } from "#forge/open-forge-module.ts";
import type { ServerConfig } from "../config.ts";
import type { Services } from "../services.ts";
import { forgeFarmPort } from "./forge-farm-port.ts";
import { reportSource } from "./report-source.ts";

/** Starts to watch repositories. `url` is where the farm listens. */
export function startForge(
  services: Services,
  { forgeTimes, publicUrl }: Pick<ServerConfig, "forgeTimes" | "publicUrl">,
  url: string,
): Promise<ForgeModule> {
  const { db, clock, logger, forges, idle } = services;
  const shown = (publicUrl?.href ?? url).replace(/\/+$/, "");
  const times = Object.fromEntries(
    Object.entries(forgeTimes).filter(([, value]) => value !== undefined),
  );
  return openForgeModule({
    db,
    clock,
    logger,
    idle,
    service: forgeFarmPort(services, shown),
    forges: forges.forges,
    reports: reportSource(shown),
    times,
  });
}
