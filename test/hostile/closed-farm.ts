import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestProvider, type TestProvider } from "../support/identity-provider.ts";
import { appOfAForge } from "./app-of-a-forge.ts";
import { as, type HostileFarm, startHostileFarm } from "./hostile-farm.ts";
import { shared } from "./shared-target.ts";

/** The only private address that the closed farm's Git may access. */
export const allowedPrivateHost = "127.0.0.2";

/** The current and the previous secret that signs webhooks of the closed farm. */
export const webhookSecrets = ["a secret that is in use", "the secret before"] as const;

/** A closed farm: `root` has all permissions, `mallory` all in her own project and repository, `anyone` only reads. */
export interface ClosedFarm extends HostileFarm {
  readonly root: string;
  readonly mallory: string;
  /** The identity provider of its users. */
  readonly provider: TestProvider;
}

export const openClosedFarm = shared(async (full): Promise<ClosedFarm> => {
  const keys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  // A forge that does not exist: its webhooks are accepted, and have no further effect.
  const app = await appOfAForge({
    id: "1",
    privateKey: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    api: `http://${allowedPrivateHost}:1`,
    secret: webhookSecrets[0],
    oldSecret: webhookSecrets[1],
  });
  const provider = await startTestProvider();
  const folder = await mkdtemp(join(tmpdir(), "grange-provider-"));
  const secretFile = join(folder, "client-secret");
  await writeFile(secretFile, provider.clientSecret);
  const farm = await startHostileFarm({
    full,
    env: {
      GRANGE_PRIVATE_HOSTS: allowedPrivateHost,
      GRANGE_OIDC_ISSUER: provider.issuer,
      GRANGE_OIDC_CLIENT_ID: provider.clientId,
      GRANGE_OIDC_CLIENT_SECRET_FILE: secretFile,
      ...app.env,
    },
  });
  await provider.register(`${farm.url}/auth/callback`);
  return {
    ...farm,
    ...(await closed(farm)),
    provider,
    async stop() {
      await farm.stop();
      await Promise.all([
        provider.stop(),
        app.remove(),
        rm(folder, { recursive: true, force: true }),
      ]);
    },
  };
});

/**
 * Grants permissions to two users, and revokes those of everyone; returns the tokens of the two.
 */
async function closed(farm: HostileFarm) {
  const tokenOf = async (principal: string) => {
    const made = await farm.ask("/tokens", { principal });
    if (made.status !== 201) throw new Error(`no token for ${principal}: ${made.text}`);
    return (made.json() as { token: string }).token;
  };
  const granted = async (body: object) => {
    const done = await farm.ask("/grants", body);
    if (done.status !== 200) throw new Error(`no grant: ${done.text}`);
  };
  const root = await tokenOf("root");
  await granted({ principal: "root", verb: "*", top: true });
  for (const verb of ["submit", "cancel", "cache", "execute", "report", "retrigger", "measure"])
    await granted({ principal: "mallory", verb, repository: "mallory*" });
  const mallory = await tokenOf("mallory");
  const gone = await farm.ask("/grants/remove", { principal: "anyone", verb: "*" }, as(root));
  if (gone.status !== 200) throw new Error(`the farm stays open: ${gone.text}`);
  return { root, mallory };
}
