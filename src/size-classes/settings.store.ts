import { z } from "zod";
import type { Tx } from "#db/db.ts";
import { sql } from "#db/sql.ts";
import { defaultSettings, SizeClassSettings } from "./settings.ts";

/** Settings were changed. No payload. */
export const sizeClassSettingsChannel = "grange_size_class_settings";

/** The settings for choosing size classes, and who changed them; undefined for the defaults. */
export interface KeptSettings {
  readonly settings: SizeClassSettings;
  readonly changed: { readonly by: string; readonly at: Date } | undefined;
}

/** The values to change; null: the default. */
type SettingsChange = {
  readonly [Name in keyof SizeClassSettings]?: SizeClassSettings[Name] | null | undefined;
};

const Row = z.object({
  said: z.record(z.string(), z.unknown()),
  by: z.string(),
  at: z.date(),
});

export async function readSettings(tx: Tx): Promise<KeptSettings> {
  const [row] = await tx.many(
    Row,
    sql`select settings as said, changed_by as by, changed_at as at from size_class_settings`,
  );
  if (row === undefined) return { settings: defaultSettings, changed: undefined };
  return { settings: settingsOf(row.said), changed: { by: row.by, at: row.at } };
}

/** Changes some of the settings and leaves the others. Concurrent changes of different settings both succeed. */
export async function changeSettings(
  tx: Tx,
  change: SettingsChange,
  by: string,
  at: Date,
): Promise<void> {
  await tx.run(sql`
    insert into size_class_settings (settings, changed_by, changed_at) values ('{}'::jsonb, ${by}, ${at})
    on conflict do nothing
  `);
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const reset = given.filter(([, value]) => value === null).map(([name]) => name);
  const changed = Object.fromEntries(given.filter(([, value]) => value !== null));
  await tx.run(sql`
    update size_class_settings
    set settings = settings - ${reset}::text[] || ${JSON.stringify(changed)}::jsonb,
        changed_by = ${by}, changed_at = ${at}
  `);
  await tx.run(sql`select pg_notify(${sizeClassSettingsChannel}, '')`);
}

/** Each setting separately: for a value of another version that this one does not know, the default is used. */
function settingsOf(given: Readonly<Record<string, unknown>>): SizeClassSettings {
  const known = Object.entries(SizeClassSettings.shape).flatMap(([name, shape]) => {
    const value = shape.safeParse(given[name]);
    return value.success ? [[name, value.data]] : [];
  });
  return SizeClassSettings.parse(Object.fromEntries(known));
}
