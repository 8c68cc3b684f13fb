import { readFile } from "node:fs/promises";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";

/** What the server must be told to be a GitHub App; secrets are in files. */
export const githubAppConfig = z.strictObject({
  appId: z.string().min(1),
  keyFile: z.string({ error: "name the app's private key, too (GRANGE_GITHUB_APP_KEY)" }).min(1),
  webhookSecretFile: z
    .string({ error: "name the webhook's secret, too (GRANGE_GITHUB_WEBHOOK_SECRET)" })
    .min(1),
  /** While the secret is replaced: the one before. */
  oldWebhookSecretFile: z.string().min(1).optional(),
  api: z.url({ protocol: /^https?$/ }).optional(),
  /** Between two writes; for a GitHub of one's own that bears more than github.com's second. */
  paceMs: z.coerce.number().int().min(0).max(60_000).optional(),
});
export type GitHubAppConfig = z.infer<typeof githubAppConfig>;

/** How often repositories are compared with their forges; what is usual when absent. */
export const forgeTimesConfig = z.object({
  reconcileMs: z.coerce.number().int().min(1_000).optional(),
  pollMs: z.coerce.number().int().min(1_000).optional(),
  leaseMs: z.coerce.number().int().min(1_000).optional(),
});

/** Undefined when nothing is said of any. */
export function readGitHubApp(
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> | undefined {
  const given = {
    appId: env["GRANGE_GITHUB_APP_ID"],
    keyFile: env["GRANGE_GITHUB_APP_KEY"],
    webhookSecretFile: env["GRANGE_GITHUB_WEBHOOK_SECRET"],
    oldWebhookSecretFile: env["GRANGE_GITHUB_WEBHOOK_SECRET_OLD"],
    api: env["GRANGE_GITHUB_API"],
    paceMs: env["GRANGE_GITHUB_PACE_MS"],
  };
  const set = Object.entries(given).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "",
  );
  return set.length === 0 ? undefined : Object.fromEntries(set);
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

/** Secrets may not be so short that they are guessed from one webhook. */
const leastSecretLength = 16;

export async function readWebhookSecrets({
  webhookSecretFile,
  oldWebhookSecretFile,
}: Pick<GitHubAppConfig, "webhookSecretFile" | "oldWebhookSecretFile">): Promise<string[]> {
  const files = [webhookSecretFile, oldWebhookSecretFile].filter((file) => file !== undefined);
  return Promise.all(files.map(readSecret));
}

async function readSecret(file: string): Promise<string> {
  const secret = (await readSecretFile(file)).trim();
  if (secret.length >= leastSecretLength) return secret;
  throw new Fault(
    "invalid_argument",
    `the webhook secret in ${file} has fewer than ${leastSecretLength} characters: make one with \`openssl rand -hex 32\``,
  );
}

export async function readSecretFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new Fault("invalid_argument", `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
}
