import { z } from "zod";
import type { Systemctl } from "./systemd.ts";

const Properties = z.object({
  Id: z.string(),
  ActiveState: z.string(),
  SubState: z.string(),
  MainPID: z.coerce.number(),
  NRestarts: z.coerce.number(),
  ActiveEnterTimestamp: z.string(),
});

interface ServiceState {
  readonly unit: string;
  /** systemd's terms, such as `active` and `running`. */
  readonly state: string;
  readonly detail: string;
  readonly pid: number;
  readonly restarts: number;
  readonly since: string;
}

/** Reads the states of services from systemd. */
export async function serviceStates(
  units: readonly string[],
  systemctl: Systemctl,
): Promise<ServiceState[]> {
  if (units.length === 0) return [];
  const properties = Object.keys(Properties.shape).join(",");
  return parseStates(await systemctl(["show", `--property=${properties}`, ...units]));
}

/** Parses the output of `systemctl show`: a block of `name=value` lines for each unit. */
export function parseStates(text: string): ServiceState[] {
  return text
    .trim()
    .split(/\n\n+/)
    .filter(Boolean)
    .map((block) => {
      const pairs = block.split("\n").map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)];
      });
      const found = Properties.parse(Object.fromEntries(pairs));
      return {
        unit: found.Id,
        state: found.ActiveState,
        detail: found.SubState,
        pid: found.MainPID,
        restarts: found.NRestarts,
        since: found.ActiveEnterTimestamp,
      };
    });
}
