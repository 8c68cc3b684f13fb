import { readFileSync } from "node:fs";
import { z } from "zod";

/** A registry that may be used, and its addresses. */
export interface AllowedRegistry {
  /** Its host as in names of images, with its port if it has one. */
  readonly host: string;
  /** Origins to ask in this order: mirrors first, then the registry itself. */
  readonly origins: readonly string[];
}

/** Docker's own registry does not answer at the host that names of images have. */
const originOf = (host: string) =>
  host === "docker.io" ? "https://registry-1.docker.io" : `https://${host}`;

/**
 * Parses a list such as `ghcr.io,docker.io=http://mirror:5000,http://localhost:5000`.
 *
 * An entry is a host; or an origin with `http://`, for a registry without TLS; or a host and the origin of its mirror,
 * which is tried first. Throws an error for an entry that is none of them.
 */
export function parseRegistries(text: string): AllowedRegistry[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [left = "", mirror, ...more] = entry.split("=");
      const own = /^https?:\/\//.test(left) ? originIn(left, entry) : undefined;
      const host = (own === undefined ? left : new URL(own).host).toLowerCase();
      const isHost = /^[a-z0-9.-]+(:\d{1,5})?$/.test(host) && URL.canParse(`https://${host}`);
      if (more.length > 0 || !isHost) throw wrong(entry);
      const mirrors = mirror === undefined ? [] : [originIn(mirror, entry)];
      return { host, origins: [...mirrors, own ?? originOf(host)] };
    });
}

function originIn(text: string, entry: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === "/" &&
    url.search === "";
  if (!isOrigin || url.username !== "" || url.host === "") throw wrong(entry);
  return url.origin;
}

function wrong(entry: string): Error {
  return new Error(
    `"${entry}" names no registry: write ghcr.io, or http://localhost:5000 for one without TLS, or docker.io=https://mirror.example for one with a mirror`,
  );
}

/** User and password by the host of a registry. */
export type RegistryCredentials = ReadonlyMap<
  string,
  { readonly user: string; readonly password: string }
>;

const DockerConfig = z.object({
  auths: z.record(
    z.string(),
    z.object({
      auth: z.string().optional(),
      username: z.string().optional(),
      password: z.string().optional(),
    }),
  ),
});

/** Reads a file as `docker login` writes it. */
export function readCredentials(file: string): RegistryCredentials {
  return parseCredentials(readFileSync(file, "utf8"), file);
}

/**
 * Parses a text as `docker login` writes it: `{"auths":{"ghcr.io":{"auth":"BASE64 of user:password"}}}`. Registries
 * without a password, which it may keep elsewhere, are left out. Throws an error that names `source`, and no value.
 */
export function parseCredentials(text: string, source: string): RegistryCredentials {
  const parsed = DockerConfig.safeParse(parse(text, source));
  if (!parsed.success)
    throw new Error(
      `${source} has no credentials of registries, as \`docker login\` writes them: ${z.prettifyError(parsed.error)}`,
    );
  return new Map(
    Object.entries(parsed.data.auths).flatMap(([host, { auth, username, password }]) => {
      const pair =
        auth === undefined
          ? `${username ?? ""}:${password ?? ""}`
          : Buffer.from(auth, "base64").toString();
      const colon = pair.indexOf(":");
      if (colon < 1) return [];
      const name = host.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
      const canonical = name === "index.docker.io" ? "docker.io" : name;
      return [
        [
          canonical.toLowerCase(),
          { user: pair.slice(0, colon), password: pair.slice(colon + 1) },
        ] as const,
      ];
    }),
  );
}

function parse(text: string, source: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${source} is not JSON`);
  }
}
