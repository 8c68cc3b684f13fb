import { createHash } from "node:crypto";
import type { SecretService } from "#access/secrets/secret-service.ts";
import { Fault, messageOf } from "#core/fault.ts";
import type { TrustDomain } from "#core/trust-domain.ts";
import {
  type ProjectLogin,
  pullRequestLoginName,
  registryLoginName,
} from "#images/registry-login.ts";
import { parseCredentials } from "#images/registry-settings.ts";

/** A build tool sends many actions with images in this time. In ms. */
const validMs = 5_000;
const mostKept = 1_000;

/** Whoever wants to pull. */
interface Puller {
  readonly project: string;
  readonly domain: TrustDomain;
}

export interface RegistryLogins {
  /**
   * Returns the logins for pulls of a project in a trust domain; undefined when it has none. Throws
   * `failed_precondition` for a secret that cannot be opened.
   */
  of(puller: Puller): Promise<ProjectLogin | undefined>;
  /** Makes a changed secret count at once on this server. On others it counts after 5 s. */
  forget(): void;
}

/** Opens the registry logins of projects, which are secrets of theirs. `farm` differs from that of other farms. */
export function registryLogins(
  secrets: Pick<SecretService, "valueIn">,
  farm: string,
): RegistryLogins {
  const known = new Map<
    string,
    { readonly login: Promise<ProjectLogin | undefined>; readonly untilMs: number }
  >();
  const read = async ({ project, domain }: Puller): Promise<ProjectLogin | undefined> => {
    for (const name of [registryLoginName, pullRequestLoginName]) {
      const found = await secrets.valueIn(name, {
        repository: project,
        domain,
        isForPullRequests: name === pullRequestLoginName,
      });
      if (found === undefined) continue;
      const text = Buffer.from(found.value).toString();
      return {
        scope: createHash("sha256").update(`${farm} ${found.id}`).digest("hex").slice(0, 32),
        credentials: parseCredentials(text, `the secret ${name}`),
      };
    }
    return undefined;
  };
  return {
    of(puller) {
      const key = `${puller.domain} ${puller.project}`;
      const kept = known.get(key);
      if (kept !== undefined && kept.untilMs > Date.now()) return kept.login;
      if (known.size >= mostKept) known.clear();
      const login = read(puller);
      known.set(key, { login, untilMs: Date.now() + validMs });
      login.catch(() => known.delete(key));
      return login;
    },
    forget: () => known.clear(),
  };
}

/**
 * Checks a secret that has the name of a registry login before it is stored. Throws `invalid_argument` when no pull
 * could use it.
 */
export function checkRegistryLogin(secret: {
  readonly name: string;
  readonly branch: string;
  /** In base64. */
  readonly value: string;
}): void {
  const { name, branch, value } = secret;
  if (name !== registryLoginName && name !== pullRequestLoginName) return;
  if (branch !== "*")
    throw new Fault(
      "invalid_argument",
      `${name} is for all branches of a project: set it with --branch '*'`,
    );
  let hosts: number;
  try {
    hosts = parseCredentials(Buffer.from(value, "base64").toString(), `the value of ${name}`).size;
  } catch (reason) {
    throw new Fault("invalid_argument", messageOf(reason));
  }
  if (hosts === 0)
    throw new Fault(
      "invalid_argument",
      `the value of ${name} has no registry with a password. It is a file as \`docker login\` writes it without a credential store: {"auths":{"ghcr.io":{"username":"me","password":"…"}}}`,
    );
}
