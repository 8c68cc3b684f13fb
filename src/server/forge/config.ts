import { z } from "zod";
import { forgeKinds } from "#forge/forge-kinds.ts";

/** How often repositories are compared with their forges; the default when absent. */
export const forgeTimesConfig = z.object({
  reconcileMs: z.coerce.number().int().min(1_000).optional(),
  pollMs: z.coerce.number().int().min(1_000).optional(),
  leaseMs: z.coerce.number().int().min(1_000).optional(),
});

/** The settings of forges, by kind. */
export const forgesConfig = z.strictObject(
  Object.fromEntries(
    forgeKinds.flatMap(({ kind, settings }) =>
      settings === undefined ? [] : [[kind, settings.shape.optional()] as const],
    ),
  ),
);

/** Reads the settings of forges from the environment; a kind without variables has none. */
export function readForges(
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, Readonly<Record<string, string>>>> {
  return Object.fromEntries(
    forgeKinds.flatMap(({ kind, settings }) => {
      const set = Object.entries(settings?.variables ?? {}).flatMap(([setting, variable]) => {
        const value = env[variable];
        return value === undefined || value === "" ? [] : [[setting, value] as const];
      });
      return set.length === 0 ? [] : [[kind, Object.fromEntries(set)] as const];
    }),
  );
}

/** Environment variables that name a file with a secret of a forge. */
export const variablesOfForgeSecrets: readonly string[] = forgeKinds.flatMap(({ settings }) =>
  (settings?.secretFiles ?? []).flatMap((setting) => settings?.variables[setting] ?? []),
);

/** Returns the files with secrets that the settings of forges name. */
export function secretFilesOfForges(forges: Readonly<Record<string, unknown>>): string[] {
  return forgeKinds.flatMap(({ kind, settings }) => {
    const given = z.record(z.string(), z.unknown()).optional().parse(forges[kind]);
    return (settings?.secretFiles ?? []).flatMap((setting) => {
      const file = given?.[setting];
      return typeof file === "string" ? [file] : [];
    });
  });
}

export function readForgeTimes(
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, string | undefined>> {
  return {
    reconcileMs: env["GRANGE_FORGE_RECONCILE_MS"] || undefined,
    pollMs: env["GRANGE_FORGE_POLL_MS"] || undefined,
    leaseMs: env["GRANGE_FORGE_LEASE_MS"] || undefined,
  };
}
