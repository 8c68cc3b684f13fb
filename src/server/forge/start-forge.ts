import { type ForgeRoom, openForgeRoom } from "#forge/open-forge-room.ts";
import type { ServerConfig } from "../config.ts";
import type { Rooms } from "../rooms.ts";
import { forgeDesk } from "./forge-desk.ts";
import { reportSource } from "./report-source.ts";

/** Watches repositories from now on. `url` is where the farm listens. */
export function startForge(
  rooms: Rooms,
  { forgeTimes, publicUrl }: Pick<ServerConfig, "forgeTimes" | "publicUrl">,
  url: string,
): Promise<ForgeRoom> {
  const { db, clock, logger, forges, idle } = rooms;
  const shown = (publicUrl?.href ?? url).replace(/\/+$/, "");
  const times = Object.fromEntries(
    Object.entries(forgeTimes).filter(([, value]) => value !== undefined),
  );
  return openForgeRoom({
    db,
    clock,
    logger,
    idle,
    desk: forgeDesk(rooms, shown),
    forges: forges.forges,
    reports: reportSource(shown),
    times,
  });
}
