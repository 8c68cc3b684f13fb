import { z } from "zod";
import type { RegistryCredentials } from "./registry-settings.ts";

/** The secret with a project's logins at registries: for pulls of its runs, except those of pull requests. */
export const registryLoginName = "REGISTRY_LOGIN";

/** The secret with the logins for pulls of all runs of a project that have no other login: also of pull requests. */
export const pullRequestLoginName = "REGISTRY_LOGIN_OF_PULL_REQUESTS";

/** A farm's name for one secret with logins. It is a part of directory names. */
export const LoginScope = z.string().regex(/^[0-9a-f]{32}$/);

/** The logins that a project may use for pulls. */
export interface ProjectLogin {
  /**
   * Names who may use images that were pulled with this login. It stays the same when the secret gets another value, and
   * differs from the scopes of all other secrets and farms.
   */
  readonly scope: string;
  readonly credentials: RegistryCredentials;
}

/** A login for one pull, as a worker gets it with a lease. */
export interface RegistryLogin {
  readonly scope: string;
  /** The registry's host as in names of images. */
  readonly host: string;
  readonly user: string;
  readonly password: string;
}
