import { z } from "zod";

const Texts = z.record(z.string(), z.string()).catch({}).default({});

const PackageJson = z.object({
  name: z.string().optional().catch(undefined),
  scripts: Texts,
  dependencies: Texts,
  devDependencies: Texts,
  optionalDependencies: Texts,
  packageManager: z.string().optional().catch(undefined),
  main: z.string().optional().catch(undefined),
  module: z.string().optional().catch(undefined),
  types: z.string().optional().catch(undefined),
  exports: z.unknown().optional(),
  workspaces: z
    .union([
      z.array(z.string()),
      z.object({ packages: z.array(z.string()) }).transform((w) => w.packages),
    ])
    .optional()
    .catch(undefined),
});
export type PackageJson = z.output<typeof PackageJson>;

export function readPackageJson(text: string | undefined): PackageJson | undefined {
  if (text === undefined) return undefined;
  try {
    return PackageJson.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export function hasDependencies(manifest: PackageJson): boolean {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  return [dependencies, devDependencies, optionalDependencies].some(
    (group) => Object.keys(group).length > 0,
  );
}

/** Returns the files that another package gets when it imports this one; none when package.json names none. */
export function entryFiles(manifest: PackageJson): string[] {
  const { main, module, types } = manifest;
  return [main, module, types, ...textsIn(manifest.exports)]
    .filter((path) => path !== undefined)
    .map((path) => path.replace(/^\.\//, ""));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const hookInstallers =
  /^\s*(npx\s+)?(husky|simple-git-hooks|lefthook|is-ci|git\s+config|ts-patch)\b/;

/** Returns the scripts that an installation runs automatically, and that may need files besides package.json. */
export function lifecycleScripts(manifest: PackageJson): string[] {
  return [
    "preinstall",
    "install",
    "postinstall",
    "prepublish",
    "preprepare",
    "prepare",
    "postprepare",
  ].filter((name) => manifest.scripts[name] !== undefined);
}

/** Whether a `postinstall` prepares sources, rather than Git hooks, which a job does not need. */
export function preparesSources(manifest: PackageJson): boolean {
  const script = manifest.scripts["postinstall"];
  return script !== undefined && !hookInstallers.test(script);
}

/** Whether `postinstall` installs further packages, and so needs the network. */
export function installsMore(manifest: PackageJson): boolean {
  const script = manifest.scripts["postinstall"] ?? "";
  return /\b(npm|pnpm|yarn|bun|playwright)\s(?:[^&|;]*\s)?(install|ci|add|i)\b/.test(script);
}
