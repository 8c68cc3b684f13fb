import { readFile } from "node:fs/promises";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";
import type { ForgeSettings } from "../forge-kind.ts";

/** The server's settings for a GitHub App; secrets are in files. */
const GitHubApp = z.strictObject({
  appId: z.string().min(1),
  keyFile: z.string({ error: "name the app's private key, too (GRANGE_GITHUB_APP_KEY)" }).min(1),
  webhookSecretFile: z
    .string({ error: "name the webhook's secret, too (GRANGE_GITHUB_WEBHOOK_SECRET)" })
    .min(1),
  /** The previous secret, while the secret is being replaced. */
  oldWebhookSecretFile: z.string().min(1).optional(),
  api: z.url({ protocol: /^https?$/ }).optional(),
  /**
   * The interval between two writes; for a GitHub Enterprise Server that allows more than github.com's one per second.
   */
  paceMs: z.coerce.number().int().min(0).max(60_000).optional(),
});
export type GitHubApp = z.infer<typeof GitHubApp>;

export const gitHubSettings: ForgeSettings<GitHubApp> = {
  shape: GitHubApp,
  variables: {
    appId: "GRANGE_GITHUB_APP_ID",
    keyFile: "GRANGE_GITHUB_APP_KEY",
    webhookSecretFile: "GRANGE_GITHUB_WEBHOOK_SECRET",
    oldWebhookSecretFile: "GRANGE_GITHUB_WEBHOOK_SECRET_OLD",
    api: "GRANGE_GITHUB_API",
    paceMs: "GRANGE_GITHUB_PACE_MS",
  },
  secretFiles: ["keyFile", "webhookSecretFile", "oldWebhookSecretFile"],
  missing:
    "this farm has no GitHub App: give the server GRANGE_GITHUB_APP_ID, GRANGE_GITHUB_APP_KEY and GRANGE_GITHUB_WEBHOOK_SECRET (docs/forge.md describes how to make one)",
};

/** Shorter secrets could be guessed from one webhook. */
const leastSecretLength = 16;

export async function readWebhookSecrets({
  webhookSecretFile,
  oldWebhookSecretFile,
}: Pick<GitHubApp, "webhookSecretFile" | "oldWebhookSecretFile">): Promise<string[]> {
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
