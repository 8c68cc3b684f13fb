import { createHash } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { tarballOf } from "./tarball.fixture.ts";

interface Published {
  readonly package: string;
  readonly version: string;
  readonly time?: string;
  /** The contents of its files; default: one file with the name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The bytes that the registry serves instead of the announced ones. */
  readonly served?: Buffer;
}

interface TestRegistry {
  readonly url: string;
  readonly integrityOf: (name: string, version: string) => string;
  /** How often each `NAME@VERSION` was downloaded. */
  readonly downloads: ReadonlyMap<string, number>;
}

/** A registry on this machine, which npm uses until the test ends; the user's settings do not apply. */
export async function testRegistry(published: readonly Published[]): Promise<TestRegistry> {
  const downloads = new Map<string, number>();
  const bytesOf = new Map(
    published.map((each) => {
      const files = each.files ?? { "index.js": `"${each.package} ${each.version}"` };
      const manifest = JSON.stringify({ name: each.package, version: each.version });
      const entries = Object.entries({ "package.json": manifest, ...files });
      const name = `${each.package}@${each.version}`;
      return [
        name,
        tarballOf(
          ...entries.map(([path, text]) => ({ path: `package/${path}`, text, mode: 0o755 })),
        ),
      ];
    }),
  );
  const integrityOf = (name: string, version: string) =>
    `sha512-${createHash("sha512")
      .update(bytesOf.get(`${name}@${version}`) ?? "")
      .digest("base64")}`;

  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "").slice(1));
    const tarball = /^tarballs\/(.*)$/.exec(path)?.[1];
    if (tarball !== undefined) {
      downloads.set(tarball, (downloads.get(tarball) ?? 0) + 1);
      const { served } =
        published.find((each) => `${each.package}@${each.version}` === tarball) ?? {};
      response.end(served ?? bytesOf.get(tarball));
      return;
    }
    const versions = published.filter((each) => each.package === path);
    if (versions.length === 0) {
      response.writeHead(404, { "content-type": "application/json" }).end('{"error":"Not found"}');
      return;
    }
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        name: path,
        "dist-tags": { latest: versions.at(-1)?.version },
        versions: Object.fromEntries(
          versions.map(({ version }) => [
            version,
            {
              name: path,
              version,
              dist: {
                tarball: `${url}/tarballs/${encodeURIComponent(`${path}@${version}`)}`,
                integrity: integrityOf(path, version),
              },
            },
          ]),
        ),
        time: Object.fromEntries(
          versions.map(({ version, time = "2026-01-02T03:04:05.000Z" }) => [version, time]),
        ),
      }),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = mkdtempSync(join(tmpdir(), "grange-npm-"));
  useRegistry(url, home);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    await rm(home, { recursive: true, force: true });
  });
  return { url, integrityOf, downloads };
}

/** Configures npm to use this registry, in one attempt, with its cache in `home`. */
export function useRegistry(url: string, home: string): void {
  vi.stubEnv("npm_config_registry", `${url}/`);
  vi.stubEnv("npm_config_cache", join(home, "cache"));
  vi.stubEnv("npm_config_userconfig", join(home, "npmrc"));
  vi.stubEnv("npm_config_globalconfig", join(home, "global-npmrc"));
  vi.stubEnv("npm_config_fetch_retries", "0");
  for (const proxy of ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"])
    vi.stubEnv(proxy, "");
}
