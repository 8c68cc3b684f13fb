import { createPrivateKey } from "node:crypto";
import { Fault, messageOf } from "#core/fault.ts";

/** The rate limits for writes to one installation. */
interface GitHubPace {
  /** The interval between two writes. GitHub recommends a second. */
  readonly writeMs: number;
  /** The interval between two writes that notify people: comments. */
  readonly notifyMs: number;
  /** The number of concurrent requests. */
  readonly concurrent: number;
}

/** A GitHub App's configuration. */
export interface GitHubConfig {
  readonly appId: string;
  /** PEM, PKCS#1 as GitHub issues it, or PKCS#8. */
  readonly privateKey: string;
  /** GitHub signs webhooks with one of these; without one, no webhooks are accepted. */
  readonly webhookSecrets?: readonly string[];
  /** The address of its API: `https://api.github.com`, or `https://HOST/api/v3`. */
  readonly api?: string;
  /** The timeout of a request. GitHub's own timeout is 10 s. */
  readonly timeoutMs?: number;
  readonly pace?: Partial<GitHubPace>;
  /** How long a call may wait when the forge asks for it; longer waits are left to the caller, which holds leases. */
  readonly waitLimitMs?: number;
  /** The delay before a failed read is retried; the second delay is four times as long. */
  readonly readAgainMs?: number;
  readonly warn?: (message: string) => void;
  readonly now?: () => Date;
}

const githubApi = "https://api.github.com";

/** The default pace of octokit/plugin-throttling, after GitHub's advice for integrators. */
const defaultPace: GitHubPace = { writeMs: 1_000, notifyMs: 3_000, concurrent: 10 };

export type FullGitHubConfig = Required<Omit<GitHubConfig, "pace">> & { readonly pace: GitHubPace };

/** Adds defaults, and refuses invalid settings with an explanation. */
export function fullConfig(config: GitHubConfig): FullGitHubConfig {
  if (!/^[0-9]{1,15}$/.test(config.appId) && !/^Iv[0-9A-Za-z.]{4,40}$/.test(config.appId))
    throw new Fault(
      "invalid_argument",
      `${JSON.stringify(config.appId.slice(0, 60))} is not the id of a GitHub app: it is the number (or the client id, Iv…) at the top of the app's settings`,
    );
  const api = (config.api ?? githubApi).replace(/\/+$/, "");
  if (!URL.canParse(api) || !/^https?:$/.test(new URL(api).protocol))
    throw new Fault(
      "invalid_argument",
      `${JSON.stringify(api)} is not the URL of an API: use ${githubApi}, or https://HOST/api/v3 of your own server`,
    );
  return {
    appId: config.appId,
    privateKey: rsaKey(config.privateKey),
    webhookSecrets: config.webhookSecrets ?? [],
    api,
    timeoutMs: config.timeoutMs ?? 15_000,
    pace: { ...defaultPace, ...config.pace },
    waitLimitMs: config.waitLimitMs ?? 5_000,
    readAgainMs: config.readAgainMs ?? 1_000,
    warn: config.warn ?? (() => {}),
    now: config.now ?? (() => new Date()),
  };
}

function rsaKey(pem: string): string {
  // Environments often carry line breaks as two characters.
  const text = pem.replaceAll("\\n", "\n");
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === "rsa")
      return key.export({ type: "pkcs8", format: "pem" }).toString();
  } catch (cause) {
    throw new Fault(
      "invalid_argument",
      `the GitHub app's private key cannot be read (${messageOf(cause)}): give the whole .pem file that GitHub made for it`,
      { cause },
    );
  }
  throw new Fault("invalid_argument", "the GitHub app's private key is not an RSA key");
}
