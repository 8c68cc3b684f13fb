import type { Service } from "#core/service.ts";
import type { Db } from "#db/db.ts";
import { migrationChannel, readSchemaVersion } from "#db/migrate.ts";

/**
 * Watches whether a newer version changes the schema so that this server would fail.
 *
 * Migrations wait for servers that would fail and are connected. A server that had no connection at that moment learns
 * it here when it is connected again.
 *
 * @param knows the number of the newest migration that this server knows
 * @returns `outgrown` resolves with the reason when this server must stop
 */
export async function watchSchema(
  db: Db,
  knows: number,
): Promise<Service & { readonly outgrown: Promise<string> }> {
  let stopWith: (why: string) => void = () => {};
  const outgrown = new Promise<string>((resolve) => {
    stopWith = resolve;
  });
  const look = async () => {
    const { needed } = await readSchemaVersion(db);
    if (needed > knows)
      stopWith(
        `a newer version of Grange has changed the database: it needs servers that know migration ${needed}, this one knows ${knows}. Update it`,
      );
  };
  // A failed read means that the connection is lost again, and the listener calls after the next one.
  const listening = await db.listen(migrationChannel, () => void look().catch(() => {}));
  return { outgrown, stop: () => listening.stop() };
}
