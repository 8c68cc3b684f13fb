// Writes dist/sbom.cdx.json, the CycloneDX list of the packages that are part of Grange.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { npmCommand, root } from "./ensure-installed.mjs";

/** Throws an error with npm's output when npm cannot make the list. */
export function writeSoftwareBill() {
  const [npm = "npm", ...before] = npmCommand();
  const args = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  const made = spawnSync(npm, [...before, ...args], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  if (made.status !== 0) throw new Error(`npm sbom failed:\n${made.stderr}`);
  const bill = JSON.parse(made.stdout);
  // npm takes names of directories for the project and its workspace, and no licence for the latter.
  const { component } = bill.metadata;
  component.name = "grange";
  for (const each of bill.components) {
    if (each.licenses === undefined && each["bom-ref"]?.startsWith("grange-bundle@"))
      Object.assign(each, { name: "grange-bundle", licenses: component.licenses });
  }
  bill.components.push(...forgotten(bill.components));
  writeFileSync(join(root, "dist", "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
}

/** The SDK of OpenTelemetry is installed with the development packages, and the package contains it (decision 156). */
function isBundled(path) {
  return path.startsWith("node_modules/@opentelemetry/");
}

/**
 * Returns the components that npm 11 leaves out: packages that a package for development needs, too, if it comes to
 * that one first; and those of `isBundled`.
 */
function forgotten(components) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const listed = new Set(components.map((each) => each["bom-ref"]));
  return Object.entries(packages)
    .filter(
      ([path, { dev, link, optional }]) =>
        path.startsWith("node_modules/") && (!dev || isBundled(path)) && !link && !optional,
    )
    .map(([path, { version, license, name = path.split("node_modules/").at(-1) }]) => ({
      "bom-ref": `${name}@${version}`,
      type: "library",
      name,
      version,
      scope: "required",
      purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      // CycloneDX has another field for several licences.
      licenses: [/[ (]/.test(license) ? { expression: license } : { license: { id: license } }],
    }))
    .filter((each) => !listed.has(each["bom-ref"]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) writeSoftwareBill();
