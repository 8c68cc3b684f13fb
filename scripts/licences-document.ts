import { z } from "zod";

/** The parts of package-lock.json (lockfileVersion 3) that a list of licences needs. */
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      /** Of an alias: the package that is installed under the name of another. */
      name: z.string().optional(),
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().optional(),
      devOptional: z.boolean().optional(),
      link: z.boolean().optional(),
    }),
  ),
});

interface Package {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly isDevelopment: boolean;
}

/**
 * Returns docs/licences.md for the text of package-lock.json. Throws for a package that states no licence.
 *
 * `npm run docs` writes the document, and a test compares it.
 */
export function licencesDocument(lock: string): string {
  const packages = packagesIn(lock);
  const used = packages.filter(({ isDevelopment }) => !isDevelopment);
  const development = packages.filter(({ isDevelopment }) => isDevelopment);
  return [
    "# Licences of the packages that Grange uses",
    "",
    "Written by `npm run docs` from package-lock.json, with the licence that each package states. Grange itself has the",
    "licence [Apache-2.0](../LICENSE). `npm pack` also puts a list of the first table into the package, as CycloneDX:",
    "`dist/sbom.cdx.json`.",
    "",
    "## Packages that are part of Grange, or build it",
    "",
    ...tableOf(used),
    "",
    "## Packages for tests and development only",
    "",
    ...tableOf(development),
    "",
  ].join("\n");
}

/** Returns the packages of a lock file, each version once, by name. */
export function packagesIn(lock: string): readonly Package[] {
  const found = new Map<string, Package>();
  for (const [path, entry] of Object.entries(Lock.parse(JSON.parse(lock)).packages)) {
    const folder = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    // The others are this project and its workspace.
    if (folder === undefined || entry.link === true) continue;
    const name = entry.name ?? folder;
    const { version = "", license } = entry;
    if (license === undefined)
      throw new Error(`${name} ${version} states no licence; look at its files, and replace it`);
    // The SDK of OpenTelemetry is installed for development, and is part of the package (decision 156).
    const isBundled = path.startsWith("node_modules/@opentelemetry/");
    const isDevelopment = !isBundled && (entry.dev === true || entry.devOptional === true);
    const key = `${name} ${version}`;
    const other = found.get(key);
    found.set(key, {
      name,
      version,
      licence: license,
      isDevelopment: isDevelopment && other?.isDevelopment !== false,
    });
  }
  return [...found.values()].toSorted((a, b) =>
    `${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1,
  );
}

function tableOf(packages: readonly Package[]): string[] {
  const byLicence = new Map<string, Package[]>();
  for (const each of packages)
    byLicence.set(each.licence, [...(byLicence.get(each.licence) ?? []), each]);
  return [
    "| licence | packages |",
    "|---|---|",
    ...[...byLicence]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(
        ([licence, those]) =>
          `| ${licence} | ${those.map(({ name, version }) => `${name} ${version}`).join(", ")} |`,
      ),
  ];
}
