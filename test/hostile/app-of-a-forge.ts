import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns the settings of a server's app at a forge; `remove` deletes the files. */
export async function appOfAForge(app: {
  readonly id: string;
  readonly privateKey: string;
  readonly api: string;
  readonly secret: string;
  readonly oldSecret?: string;
}) {
  const folder = await mkdtemp(join(tmpdir(), "grange-forge-"));
  const file = async (name: string, text: string) => {
    const path = join(folder, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  const { oldSecret } = app;
  return {
    env: {
      GRANGE_GITHUB_APP_ID: app.id,
      GRANGE_GITHUB_APP_KEY: await file("key.pem", app.privateKey),
      GRANGE_GITHUB_WEBHOOK_SECRET: await file("secret", app.secret),
      ...(oldSecret === undefined
        ? {}
        : { GRANGE_GITHUB_WEBHOOK_SECRET_OLD: await file("old-secret", oldSecret) }),
      GRANGE_GITHUB_API: app.api,
      // The fake forge needs no pause between two writes.
      GRANGE_GITHUB_PACE_MS: "0",
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
